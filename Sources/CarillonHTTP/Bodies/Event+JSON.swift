import CarillonCore

extension Receipt {
    /// What the sender of an event is told.
    var json: JSONValue { json(because: nil) }

    /// The same with why it is ignored, where it is.
    func json(because reason: String?) -> JSONValue {
        ["id": .string(id.description), "status": .string(status.rawValue), "reason": reason.map(JSONValue.string)]
    }
}

extension EventStatus {
    private static let shownStates: [DeliveryState] = [.pending, .delivered, .unregistered, .expired, .dead]

    var json: JSONValue {
        let counts = Self.shownStates.map { ($0.rawValue, JSONValue(deliveries[$0] ?? 0)) }
        return [
            "id": .string(id.description),
            "sourceId": .string(sourceID),
            "type": .string(type.rawValue),
            "channelId": channelID.map { .string($0.rawValue) } ?? .null,
            "userId": actorID.map { .string($0.rawValue) } ?? .null,
            "receivedAt": JSONValue(receivedAt),
            "state": .string(state.rawValue),
            "recipients": recipients.json,
            "deliveries": .object(JSONObject(counts)),
            "interception": interception.map { .object($0.json) },
            "traceId": trace.map { .string($0.traceID) },
            "why": why.map { .string($0.sentence) },
            "failure": failure.map(JSONValue.string),
        ]
    }
}

extension JSONObject {
    /// How many were not notified: by the level whose switch forbade it, and by an endpoint.
    init(suppressed: [ToggleLevel: Int], intercepted: Int) {
        let levels = ToggleLevel.allCases.map { ($0.rawValue, JSONValue(suppressed[$0] ?? 0)) }
        self.init(levels + [("endpoint", JSONValue(intercepted))])
    }
}

extension RecipientTally {
    fileprivate var json: JSONValue {
        [
            "resolved": JSONValue(resolved),
            "notified": JSONValue(notified),
            "suppressed": .object(JSONObject(suppressed: suppressed, intercepted: intercepted)),
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
