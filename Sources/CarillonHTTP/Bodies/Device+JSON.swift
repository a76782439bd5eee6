import CarillonCore
import CarillonEdge

extension Device {
    /// The device as the API shows it: its token is never shown again in full.
    var json: JSONValue {
        var object: JSONObject = ["id": .string(id.rawValue), "userId": userID.json]
        for (key, value) in address.json(isShown: true).members { object[key] = value }
        object["locale"] = JSONValue(locale)
        object["broadcasts"] = .bool(broadcasts)
        object["state"] = .string(state.rawValue)
        object["error"] = JSONValue(error)
        let registered = obtainedAt.flatMap { $0 > .epoch ? $0 : nil } ?? registeredAt
        object["registeredAt"] = JSONValue(registered)
        // Nothing but a registration tells us that the app still runs.
        object["lastSeenAt"] = JSONValue(registered)
        return .object(object)
    }
}

extension UserID {
    var json: JSONValue { isNobody ? .null : .string(rawValue) }
}
