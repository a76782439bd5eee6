/// What endpoints are told of a page of devices: an event of our own.
package struct FeedbackMessage: Sendable {
    /// The network.
    package var networkID: NetworkID
    /// Its id.
    package var id: EventID
    /// Its type.
    package var type: EventType
    /// When it was made.
    package var at: Timestamp
    /// Its JSON.
    package var body: JSONValue
    /// The messages to those who are told at once.
    package var groups: [DeliveryGroup]
}

extension Settlement {
    /// What endpoints that ask for it are told of the devices that are through: one message for those that were reached, and
    /// one for those that were given up.
    package func feedback(
        to endpoints: [Endpoint],
        at now: Timestamp,
        ids: UUIDv7Generator
    ) -> [FeedbackMessage] {
        guard !endpoints.isEmpty, group.relayKey == nil else { return [] }
        return [
            feedback("delivery.delivered", of: records.filter { $0.state == .delivered }, to: endpoints, now, ids),
            feedback("delivery.failed", of: records.filter(\.isGivenUp), to: endpoints, now, ids),
        ].compactMap(\.self)
    }

    private func feedback(
        _ type: String,
        of records: [DeviceRecord],
        to endpoints: [Endpoint],
        _ now: Timestamp,
        _ ids: UUIDv7Generator
    ) -> FeedbackMessage? {
        guard !records.isEmpty, endpoints.keepBody(of: type, acceptedAt: now) else { return nil }
        let network = group.lane.networkID
        var data = JSONObject()
        data["eventId"] = .string(group.cause.eventID.description)
        data["eventType"] = .string(group.cause.eventType.rawValue)
        data["channelId"] = group.cause.channel.map { .string($0.id.rawValue) }
        data["provider"] = .string(group.lane.provider.rawValue)
        data["devices"] = .array(records.map(\.feedback))
        var message = FeedbackMessage(
            networkID: network,
            id: EventID(ids.next()),
            type: EventType(type),
            at: now,
            body: ["type": .string(type), "timestamp": .string(now.description), "data": .object(data)],
            groups: []
        )
        for endpoint in endpoints where endpoint.isTold(of: type, acceptedAt: now) {
            guard case .observe(let observation) = endpoint.settings.role else { continue }
            message.groups.append(
                DeliveryGroup(
                    id: ids.next(),
                    relaying: message.id,
                    message.type,
                    receivedAt: now,
                    to: endpoint.id,
                    in: network,
                    on: RelayTerms(expiresAt: now + observation.retryTime)
                )
            )
        }
        return message
    }
}

extension DeviceRecord {
    /// Whether the device is not reached, and not for a reason of its own or its user's.
    fileprivate var isGivenUp: Bool { state == .dead || state == .expired }

    /// What endpoints are told of it.
    fileprivate var feedback: JSONValue {
        var json = JSONObject()
        json["deviceId"] = .string(deviceID.rawValue)
        json["userId"] = userID.isNobody ? .null : .string(userID.rawValue)
        json["state"] = .string(state.rawValue)
        json["attempts"] = .number(JSONNumber(attempts))
        json["reason"] = reason.map(JSONValue.string) ?? .null
        json["at"] = .string(at.description)
        return .object(json)
    }
}
