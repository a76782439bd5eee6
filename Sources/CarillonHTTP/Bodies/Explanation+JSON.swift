import CarillonCore
import CarillonEdge

extension Explanation {
    /// The explanation as the API shows it.
    var json: JSONValue {
        var json: JSONObject = [
            "verdict": decidedBy == nil ? "deliver" : "suppress",
            "decidedBy": JSONValue(decidedBy?.rawValue),
            "reason": JSONValue(reason),
            "levels": .array(
                levels.map {
                    [
                        "level": .string($0.level.rawValue),
                        "allows": .bool($0.allows),
                        "updatedAt": JSONValue($0.updatedAt),
                    ]
                }
            ),
            "notification": notification.map {
                ["locale": .string($0.locale), "title": .string($0.title), "body": .string($0.body)]
            } ?? .null,
            "devices": .array(
                devices.map {
                    ["id": .string($0.id.rawValue), "provider": .string($0.address.provider.rawValue)]
                }
            ),
        ]
        json["interception"] = interceptor.map {
            ["endpointId": .string($0.id.rawValue), "onFailure": .string($0.terms.onFailure.rawValue)]
        }
        return .object(json)
    }
}
