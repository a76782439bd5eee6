import CarillonCore
import CarillonEdge

extension Receipt {
    /// What the sender of an event is told.
    var json: JSONValue { json(because: nil) }

    /// The same with why it is ignored, where it is.
    func json(because reason: String?) -> JSONValue {
        var json: JSONObject = ["id": .string(id.description), "status": .string(status.rawValue)]
        json["reason"] = reason.map(JSONValue.string)
        return .object(json)
    }
}

extension EventStatus {
    private static let shownStates: [DeliveryState] = [.pending, .delivered, .unregistered, .expired, .dead]

    var json: JSONValue {
        var counts = JSONObject()
        for state in Self.shownStates { counts[state.rawValue] = JSONValue(deliveries[state] ?? 0) }
        let status: JSONValue = [
            "id": .string(id.description),
            "sourceId": .string(sourceID),
            "type": .string(type.rawValue),
            "channelId": channelID.map { .string($0.rawValue) } ?? .null,
            "userId": actorID.map { .string($0.rawValue) } ?? .null,
            "receivedAt": JSONValue(receivedAt),
            "state": .string(state.rawValue),
            "recipients": recipients.json,
            "deliveries": .object(counts),
        ]
        guard case .object(var object) = status else { return status }
        object["interception"] = interception.map { .object($0.json) }
        object["traceId"] = trace.map { .string($0.traceID) }
        object["why"] = why.map { .string($0.sentence) }
        object["failure"] = failure.map(JSONValue.string)
        return .object(object)
    }
}

extension RecipientTally {
    fileprivate var json: JSONValue {
        var levels = JSONObject()
        for level in ToggleLevel.allCases { levels[level.rawValue] = JSONValue(suppressed[level] ?? 0) }
        levels["endpoint"] = JSONValue(intercepted)
        return [
            "resolved": JSONValue(resolved),
            "notified": JSONValue(notified),
            "suppressed": .object(levels),
            "noDevice": JSONValue(noDevice),
        ]
    }
}

extension DeliveryStatus {
    var json: JSONValue {
        [
            "deviceId": .string(record.deviceID.rawValue),
            "userId": record.userID.json,
            "provider": .string(provider.rawValue),
            "state": .string(record.state.rawValue),
            "attempts": JSONValue(record.attempts),
            "reason": JSONValue(record.reason),
            "providerMessageId": JSONValue(record.providerMessageID),
            "at": JSONValue(record.at),
        ]
    }
}

extension DeadLetter {
    var json: JSONValue {
        [
            "id": .string(id.canonicalText),
            "eventId": .string(eventID.description),
            "eventType": .string(eventType.rawValue),
            "provider": .string(lane.provider.rawValue),
            "appId": JSONValue(lane.app),
            "host": JSONValue(lane.host),
            "deviceId": .string(record.deviceID.rawValue),
            "userId": record.userID.json,
            "attempts": JSONValue(record.attempts),
            "reason": JSONValue(record.reason),
            "at": JSONValue(record.at),
        ]
    }
}

extension LaneStatus {
    /// The lane as `GET /providers` shows it.
    var json: JSONValue {
        [
            "provider": .string(lane.provider.rawValue),
            "appId": JSONValue(lane.app),
            "host": JSONValue(lane.host),
            "circuit": .string(circuit.rawValue),
            "since": JSONValue(since),
            "reason": JSONValue(reason),
            "brake": brake.map { ["since": JSONValue($0.since), "reason": .string($0.reason)] } ?? .null,
        ]
    }
}
