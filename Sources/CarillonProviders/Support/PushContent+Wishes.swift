import CarillonCore

extension DeliveryGroup {
    /// What was asked of the device, for receivers that see to it themselves: webhooks and the log. Of an event nobody asked
    /// anything; only data may have been added to it.
    var wishes: JSONObject {
        guard let content = devicePush?.content else { return JSONObject() }
        if isDirect { return content.wishes(in: cause.channel?.id.rawValue) }
        return content.data.isEmpty ? JSONObject() : ["data": .object(content.data)]
    }
}

extension PushContent {
    fileprivate func wishes(in channel: String?) -> JSONObject {
        [
            "kind": .string(kind.rawValue),
            "data": data.isEmpty ? nil : .object(data),
            "badge": badge.map { JSONValue($0) },
            "sound": sound.name(standard: kind == .silent ? nil : "default").map(JSONValue.string),
            "category": category.map(JSONValue.string),
            "threadId": (threadID ?? channel).map(JSONValue.string),
            "collapseKey": collapseKey.map(JSONValue.string),
            "imageUrl": imageURL.map(JSONValue.string),
            "priority": .string((priority ?? .high).rawValue),
        ]
    }
}

extension PushContent.Sound {
    /// What a receiver is told to play, where `standard` is its word for what it usually plays; `nil` for nothing.
    func name(standard: String?) -> String? {
        switch self {
        case .standard: standard
        case .none: nil
        case .named(let name): name
        }
    }
}
