package import Foundation

extension DeliveryGroup {
    /// The message to an endpoint about an event: a group whose only target it is.
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
            targets: [Target(RelayedEvent(eventID, type, receivedAt: receivedAt))],
            leased: false
        )
        deviceCounts = [:]
    }

    /// Whether its targets are messages to an endpoint, each about an event of its own.
    package var isRelay: Bool { lane.provider == .relay }

    /// Whether those are messages that failed before.
    package var isTriedMessage: Bool { isRelay && attempt > 0 }

    /// What a target of it is, as a message to an endpoint; `nil` for a device.
    package func relayKey(of target: Target) -> RelayKey? {
        guard isRelay, let event = target.relayed else { return nil }
        return RelayKey(networkID: lane.networkID, endpointID: EndpointID(trusted: lane.appID), eventID: event.id)
    }

    /// How long it waits for the end of a pause of its lane, having failed so often.
    ///
    /// Messages that were never tried wait a little longer: one that was finds out whether the endpoint works again. Otherwise an
    /// endpoint that fails each message once would be told of none.
    package func wait(for pause: Duration, afterFailures failures: Int) -> Duration {
        isRelay && failures == 0 ? pause + Self.patienceOfUntried : pause
    }

    /// How much longer that is.
    package static let patienceOfUntried = Duration.seconds(1)

    /// Makes the first of its messages its cause, and lets it live for as long as the row that it was part of does.
    package mutating func splitOff(livingUntil end: Timestamp?) {
        if let first = targets.compactMap(\.relayed).min(by: { $0.id < $1.id }) {
            cause.eventID = first.id
            cause.eventType = first.type
            cause.receivedAt = first.receivedAt
        }
        if let end, let former = cause.relay?.expiresAt { cause.relay?.expiresAt = max(former, end) }
    }

    package var relayKeys: [RelayKey] { targets.compactMap(relayKey) }
}

extension Target {
    /// A message in the place of a device; where it goes is looked up when it is sent.
    package init(_ event: RelayedEvent) {
        self.init(
            deviceID: DeviceID(trusted: event.id.description),
            userID: .nobody,
            address: .log,
            registeredAt: Timestamp(milliseconds: 0)
        )
        relayed = event
    }
}

extension [Endpoint] {
    /// The messages to those that are told of an event, each a group of its own unless `bundles` has one for it.
    package func relayGroups(
        telling event: RelayedEvent,
        in network: NetworkID,
        ids: UUIDv7Generator,
        bundles: inout RelayBundles
    ) -> [DeliveryGroup] {
        compactMap { endpoint in
            guard endpoint.isTold(of: event.type.rawValue, acceptedAt: event.receivedAt),
                case .observe(let observation) = endpoint.settings.role
            else { return nil }
            let lane = Lane(endpoint.id, in: network)
            return DeliveryGroup(
                id: bundles.bundle(for: event.id, in: lane, ids: ids),
                relaying: event.id,
                event.type,
                receivedAt: event.receivedAt,
                to: endpoint.id,
                in: network,
                on: RelayTerms(expiresAt: event.receivedAt + observation.retryTime)
            )
        }
    }
}
