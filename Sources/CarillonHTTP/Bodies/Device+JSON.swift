import CarillonCore
import CarillonEdge

extension Device {
    /// The device as the API shows it: its token is never shown again in full.
    var json: JSONValue {
        var object: JSONObject = [
            "id": .string(id.rawValue),
            "userId": userID.json,
            "provider": .string(address.provider.rawValue),
        ]
        switch address {
        case .apns(let token, let appID, let environment):
            object["appId"] = .string(appID)
            object["environment"] = .string(environment.rawValue)
            object["token"] = .string(token.lastCharacters)
        case .fcm(let token, let appID):
            object["appId"] = .string(appID)
            object["token"] = .string(token.lastCharacters)
        case .webpush(let endpoint, _, _):
            object["subscription"] = ["endpoint": .string(endpoint.lastCharacters)]
        case .webhook(let url):
            object["url"] = .string(url)
        case .log:
            break
        }
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
    /// The id, or `null` for nobody.
    var json: JSONValue { isNobody ? .null : .string(rawValue) }
}

extension String {
    /// The end of a token: enough to tell two apart, too little to use one. Nothing of a short one.
    fileprivate var lastCharacters: String {
        "…" + (utf8.count >= 16 ? String(suffix(4)) : "")
    }
}
