import CarillonCore

extension DeliveryGroup {
    /// What was asked of the device, for receivers that see to it themselves: webhooks and the log. Of an event nobody asked
    /// anything; only data may have been added to it.
    var wishes: JSONObject {
        guard let content = devicePush?.content else { return JSONObject() }
        if isDirect { return content.wishes }
        var wishes = JSONObject()
        if !content.data.isEmpty { wishes["data"] = .object(content.data) }
        return wishes
    }
}

extension PushContent {
    fileprivate var wishes: JSONObject {
        var wishes = JSONObject()
        wishes["kind"] = .string(kind.rawValue)
        if !data.isEmpty { wishes["data"] = .object(data) }
        wishes["badge"] = badge.map { .number(JSONNumber($0)) }
        switch sound {
        case .standard: if kind != .silent { wishes["sound"] = "default" }
        case .none: break
        case .named(let name): wishes["sound"] = .string(name)
        }
        wishes["category"] = category.map(JSONValue.string)
        wishes["threadId"] = threadID.map(JSONValue.string)
        wishes["collapseKey"] = collapseKey.map(JSONValue.string)
        wishes["imageUrl"] = imageURL.map(JSONValue.string)
        wishes["priority"] = .string((priority ?? .high).rawValue)
        return wishes
    }
}
