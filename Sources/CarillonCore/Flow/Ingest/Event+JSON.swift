extension Event {
    /// The event in canonical JSON: the form in which chat backends post events (API section 3) and in which the inbox keeps
    /// them, so that ``EventParser`` reads both (`docs/decisions/0019`).
    ///
    /// What was posted in that form is kept as it is; this is for what came in another one.
    package var canonicalJSON: JSONValue {
        var data = direct.map { $0.json(channel: channel?.id, actor: actor?.id) } ?? sharedData
        if isSilent { data["notify"] = false }
        return [
            "id": .string(sourceID), "type": .string(type.rawValue), "timestamp": .string(timestamp.description),
            "data": .object(data),
        ]
    }

    /// What is said of channel, people and message.
    private var sharedData: JSONObject {
        var data = JSONObject()
        data["channel"] = channel.map { .object($0.json) }
        data["user"] = actor.map { .object($0.json) }
        for (name, people) in [
            ("members", members), ("invited", invited), ("existingMembers", existingMembers), ("people", people),
        ] where !people.isEmpty {
            data[name] = .array(people.map { .object($0.json) })
        }
        if isOfNewMembersOnly { data["newOnly"] = true }
        if !senderIsMember { data["senderIsMember"] = false }
        data["message"] = message.map { type == .messageDeleted ? ["id": .string($0.id ?? "")] : .object($0.json) }
        if !mentions.isEmpty { data["mentions"] = .array(mentions.sorted().map { .string($0.rawValue) }) }
        if mentionsAll { data["mentionsAll"] = true }
        data["visibleTo"] = visibleTo.map { .array($0.sorted().map { .string($0.rawValue) }) }
        if !hiddenFrom.isEmpty { data["hiddenFrom"] = .array(hiddenFrom.sorted().map { .string($0.rawValue) }) }
        return data
    }
}

extension Channel {
    fileprivate var json: JSONObject {
        [
            "id": .string(id.rawValue),
            "displayName": displayName.map { $0.isEmpty ? .null : .string($0) },
            "fallbackName": fallbackName.map { $0.isEmpty ? .null : .string($0) },
            "direct": isDirect.map(JSONValue.bool),
        ]
    }
}

extension Person {
    fileprivate var json: JSONObject {
        [
            "id": .string(id.rawValue),
            "displayName": displayName.map(JSONValue.string),
            "locale": locale.map(JSONValue.string),
            "roles": roles.map { JSONValue($0) },
        ]
    }
}

extension Message {
    fileprivate var json: JSONObject {
        [
            "id": id.map(JSONValue.string),
            "type": .string(typeName ?? kind.rawValue),
            "text": .string(text),
            "caption": caption.map(JSONValue.string),
            "kind": special.map { .string($0.rawValue) },
        ]
    }
}
