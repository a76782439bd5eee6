package import Foundation

extension DeliveryGroup {
    /// The message to an endpoint about an event: a group whose only target it is.
    package init(
        id: UUID,
        telling endpoint: EndpointID,
        of event: RelayedEvent,
        in network: NetworkID,
        on terms: RelayTerms
    ) {
        self.init(
            id: id,
            lane: Lane(endpoint, in: network),
            cause: DeliveryCause(
                eventID: event.id,
                eventType: event.type,
                channel: nil,
                actorRoles: [],
                mentions: [],
                receivedAt: event.receivedAt
            ),
            payload: .messages(terms),
            targets: [Target(event)],
            leased: false
        )
    }

    /// What holds for its messages; `nil` where it goes to devices.
    package var terms: RelayTerms? {
        if case .messages(let terms) = payload { terms } else { nil }
    }

    /// Whether it holds messages that failed before.
    package var isTriedMessage: Bool { terms != nil && attempt > 0 }

    /// What a target of it is, as a message to an endpoint; `nil` for a device.
    package func relayKey(of target: Target) -> RelayKey? {
        guard let endpoint = lane.endpoint, let event = target.event else { return nil }
        return RelayKey(networkID: lane.networkID, endpointID: endpoint, eventID: event.id)
    }

    package var relayKeys: [RelayKey] { targets.compactMap(relayKey) }

    /// How long it waits for the end of a pause of its lane, having failed so often.
    ///
    /// Messages that were never tried wait a little longer: one that was finds out whether the endpoint works again. Otherwise an
    /// endpoint that fails each message once would be told of none.
    package func wait(for pause: Duration, afterFailures failures: Int) -> Duration {
        terms != nil && failures == 0 ? pause + Self.patienceOfUntried : pause
    }

    /// How much longer that is.
    package static let patienceOfUntried = Duration.seconds(1)

    /// Lets its messages be tried until a moment, where they would not be for as long; nothing of what goes to devices.
    package mutating func live(until end: Timestamp) {
        guard case .messages(var terms) = payload else { return }
        terms.expiresAt = max(terms.expiresAt, end)
        payload = .messages(terms)
    }

    /// Makes the first of its messages its cause, where they are others than before.
    package mutating func beginWithFirst() {
        guard terms != nil else { return }
        let first = targets.compactMap(\.event).min { $0.id < $1.id }
        guard let first, first.id != cause.eventID else { return }
        cause.eventID = first.id
        cause.eventType = first.type
        cause.receivedAt = first.receivedAt
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
                telling: endpoint.id,
                of: event,
                in: network,
                on: RelayTerms(expiresAt: event.receivedAt + observation.retryTime)
            )
        }
    }
}
