extension Settlement {
    /// What endpoints that ask for it are told of the devices that are through: one message for those that were reached, and
    /// one for those that were given up.
    package func feedback(
        to endpoints: [Endpoint],
        at now: Timestamp,
        ids: UUIDv7Generator
    ) -> [FeedbackMessage] {
        guard !endpoints.isEmpty, case .devices = group.payload else { return [] }
        let pages = [
            (FeedbackType.deliveryDelivered, records.filter { $0.state == .delivered }),
            (.deliveryFailed, records.filter(\.isGivenUp)),
        ]
        return pages.filter { !$1.isEmpty }.compactMap { type, records in
            let network = group.lane.networkID
            var message = FeedbackMessage(type, data(of: records), in: network, to: endpoints, at: now, ids: ids)
            message?.trace = group.cause.trace
            return message
        }
    }

    private func data(of records: [DeviceRecord]) -> JSONObject {
        [
            "eventId": .string(group.cause.eventID.description),
            "eventType": .string(group.cause.eventType.rawValue),
            "channelId": group.cause.channel.map { .string($0.id.rawValue) },
            "provider": .string(group.lane.provider.rawValue),
            "devices": .array(records.map(\.feedback)),
        ]
    }
}

extension DeviceRecord {
    /// Whether the device is not reached, and not for a reason of its own or its user's.
    fileprivate var isGivenUp: Bool { state == .dead || state == .expired }

    fileprivate var feedback: JSONValue {
        [
            "deviceId": .string(deviceID.rawValue),
            "userId": userID.json,
            "state": .string(state.rawValue),
            "attempts": JSONValue(attempts),
            "reason": JSONValue(reason),
            "at": JSONValue(at),
        ]
    }
}
