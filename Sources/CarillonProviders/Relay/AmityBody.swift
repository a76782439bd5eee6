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
        let text = event.message.flatMap { $0.text.isEmpty && $0.kind != .text ? nil : $0.text }
        var mentioned: [JSONValue] = []
        if !event.mentions.isEmpty {
            mentioned.append(["type": "user", "userIds": JSONValue(event.mentions.sorted().map(\.rawValue))])
        }
        if event.mentionsAll { mentioned.append(["type": "channel"]) }
        let message: JSONObject = [
            "messageId": .string(event.message?.id ?? event.sourceID),
            "channelId": event.channel.map { .string($0.id.rawValue) },
            "userId": event.actor.map { .string($0.id.rawValue) },
            "type": .string((event.message?.kind ?? .other).amityType),
            "data": ["text": text.map(JSONValue.string)],
            "mentionees": mentioned.isEmpty ? nil : .array(mentioned),
            "createdAt": JSONValue(event.timestamp),
            "updatedAt": JSONValue(event.timestamp),
        ]
        return ["messages": [.object(message)], "users": .array([event.actor].compactMap(\.self).map(\.amity))]
    }

    private static func channel(_ event: Event) -> JSONObject {
        let channel: JSONValue? = event.channel.map { channel in
            [
                "channelId": .string(channel.id.rawValue),
                "displayName": channel.displayName.map(JSONValue.string),
                "type": channel.isDirect == true ? "conversation" : "community",
                "createdAt": event.type == .channelCreated ? JSONValue(event.timestamp) : nil,
            ]
        }
        return [
            "channel": [channel ?? [:]],
            "users": .array(event.members.map(\.amity)),
            "userIds": .array(event.members.map { .string($0.id.rawValue) }),
        ]
    }
}

extension Person {
    fileprivate var amity: JSONValue {
        [
            "userId": .string(id.rawValue), "displayName": displayName.map(JSONValue.string),
            "roles": roles.map { JSONValue($0) },
        ]
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
