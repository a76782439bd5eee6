package import Foundation

extension DeliveryGroup {
    /// The message to an endpoint about an event: a group whose only target is the endpoint.
    package init(
        id: UUID,
        relaying eventID: EventID,
        _ type: EventType,
        receivedAt: Timestamp,
        to endpoint: EndpointID,
        in network: NetworkID,
        on terms: RelayTerms
    ) {
        var cause = DeliveryCause(
            eventID: eventID,
            eventType: type,
            channel: nil,
            actorRoles: [],
            mentions: [],
            receivedAt: receivedAt
        )
        cause.relay = terms
        self.init(
            id: id,
            lane: Lane(endpoint, in: network),
            cause: cause,
            push: Push(Notification(locale: "", title: "", body: "")),
            targets: [Target(endpoint)],
            leased: false
        )
        deviceCounts = [:]
    }

    /// What the message is of; `nil` for notifications.
    package var relayKey: RelayKey? {
        guard lane.provider == .relay else { return nil }
        return RelayKey(
            networkID: lane.networkID,
            endpointID: EndpointID(trusted: lane.appID),
            eventID: cause.eventID
        )
    }
}

extension Target {
    /// An endpoint in the place of a device; where it is reached is looked up when it is sent to.
    package init(_ endpoint: EndpointID) {
        self.init(
            deviceID: DeviceID(trusted: endpoint.rawValue),
            userID: .nobody,
            address: .log,
            registeredAt: Timestamp(milliseconds: 0)
        )
    }
}

extension [Endpoint] {
    /// The messages to those that are told of an event.
    package func relayGroups(
        telling event: EventID,
        _ type: EventType,
        receivedAt: Timestamp,
        in network: NetworkID,
        ids: UUIDv7Generator
    ) -> [DeliveryGroup] {
        compactMap { endpoint in
            guard endpoint.isTold(of: type.rawValue, acceptedAt: receivedAt),
                case .observe(let observation) = endpoint.settings.role
            else { return nil }
            return DeliveryGroup(
                id: ids.next(),
                relaying: event,
                type,
                receivedAt: receivedAt,
                to: endpoint.id,
                in: network,
                on: RelayTerms(expiresAt: receivedAt + observation.retryTime)
            )
        }
    }
}
