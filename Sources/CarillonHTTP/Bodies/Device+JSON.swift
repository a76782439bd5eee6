import CarillonCore

extension Device {
    /// The device as the API shows it: its token is never shown again in full.
    var json: JSONValue {
        let registered = JSONValue(obtainedAt.flatMap { $0 > .epoch ? $0 : nil } ?? registeredAt)
        let settings: JSONObject = [
            "locale": JSONValue(locale),
            "broadcasts": .bool(broadcasts),
            "state": .string(state.rawValue),
            "error": JSONValue(error),
            "registeredAt": registered,
            // Nothing but a registration tells us that the app still runs.
            "lastSeenAt": registered,
        ]
        let names: JSONObject = ["id": .string(id.rawValue), "userId": userID.json]
        return .object(JSONObject(joining: names, address.json(isShown: true), settings))
    }
}
