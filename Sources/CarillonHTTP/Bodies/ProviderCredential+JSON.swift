import CarillonCore
import CarillonEdge

extension ProviderCredential {
    /// The credential as `GET` shows it: what identifies it, and nothing secret.
    var json: JSONValue {
        var object: JSONObject = ["provider": .string(provider.rawValue)]
        if !appID.isEmpty { object["appId"] = .string(appID) }
        object["updatedAt"] = JSONValue(updatedAt)
        for (key, value) in identity.members { object[key] = value }
        return .object(object)
    }
}
