import CarillonCore

/// The body of a message to an endpoint that was built for Amity: what happened, in the words of Amity's webhooks
/// (FACES section C4).
struct AmityBody {
    let bytes: [UInt8]

    /// The body of an event that was posted; `nil` when it cannot be read any more, or has no name there.
    init?(_ posted: [UInt8], about told: RelayedEvent) {
        let (id, received) = (told.id.description, told.receivedAt)
        let parser = EventParser(clock: WallClock { received })
        guard case .single(let parsed)? = try? parser.parse(body: posted, fallbackSourceID: id),
            case .known(let event) = parsed.content, let name = event.type.amityName
        else { return nil }
        let data = event.type == .messageSent ? Self.message(event) : Self.channel(event)
        let body: JSONValue = ["event": .string(name), "data": .object(data)]
        bytes = body.serialized
    }

    private static func message(_ event: Event) -> JSONObject {
        var message = JSONObject()
        message["messageId"] = .string(event.message?.id ?? event.sourceID)
        message["channelId"] = event.channel.map { .string($0.id.rawValue) }
        message["userId"] = event.actor.map { .string($0.id.rawValue) }
        message["type"] = .string((event.message?.kind ?? .other).amityType)
        var content = JSONObject()
        if let text = event.message?.text, !text.isEmpty || event.message?.kind == .text {
            content["text"] = .string(text)
        }
        message["data"] = .object(content)
        var mentioned: [JSONValue] = []
        if !event.mentions.isEmpty {
            let users = event.mentions.sorted().map { JSONValue.string($0.rawValue) }
            mentioned.append(["type": "user", "userIds": .array(users)])
        }
        if event.mentionsAll { mentioned.append(["type": "channel"]) }
        if !mentioned.isEmpty { message["mentionees"] = .array(mentioned) }
        message["createdAt"] = .string(event.timestamp.description)
        message["updatedAt"] = .string(event.timestamp.description)
        return ["messages": [.object(message)], "users": .array([event.actor].compactMap(\.self).map(\.amity))]
    }

    private static func channel(_ event: Event) -> JSONObject {
        var channel = JSONObject()
        if let described = event.channel {
            channel["channelId"] = .string(described.id.rawValue)
            channel["displayName"] = described.displayName.map(JSONValue.string)
            channel["type"] = described.isDirect == true ? "conversation" : "community"
            if event.type == .channelCreated { channel["createdAt"] = .string(event.timestamp.description) }
        }
        return [
            "channel": [.object(channel)],
            "users": .array(event.members.map(\.amity)),
            "userIds": .array(event.members.map { .string($0.id.rawValue) }),
        ]
    }
}

extension Person {
    fileprivate var amity: JSONValue {
        var user: JSONObject = ["userId": .string(id.rawValue)]
        user["displayName"] = displayName.map(JSONValue.string)
        user["roles"] = roles.map { .array($0.map(JSONValue.string)) }
        return .object(user)
    }
}

extension Message.Kind {
    fileprivate var amityType: String {
        switch self {
        case .text: "text"
        case .image: "image"
        case .other: "custom"
        }
    }
}
