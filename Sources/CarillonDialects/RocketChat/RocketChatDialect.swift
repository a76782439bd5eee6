import CarillonCore

/// The outgoing integrations of Rocket.Chat (DIALECTS section 10).
struct RocketChatDialect: EventDialect {
    /// Whether what integrations and bots have written is passed over.
    static let ignoreBots = "ignoreBots"

    let name = DialectName.rocketchat

    var switches: [String] { [Self.ignoreBots] }

    /// The integration's; nothing is signed.
    var proof: SenderProof { .token }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        let body = try post.object()
        // The body does not say what happened: each integration is for one kind, which its URL names.
        let kind = try post.request.parameter("event") ?? "sendMessage"
        return DialectReading([RocketChatReading(kind: kind, body: body, post: post).event])
    }
}

struct RocketChatReading {
    let kind: String
    let body: JSONValue
    let post: DialectPost

    private var clock: SenderClock { post.clock }

    var event: DialectEvent {
        switch kind {
        case "sendMessage": sent
        case "fileUploaded": uploaded
        case "roomCreated":
            inRoom(.channelCreated) { event in
                event.actor = person(body["owner"]) ?? user
                event.members = [event.actor].compactMap(\.self)
            }
        case "roomJoined": ofMember(.memberJoined)
        case "roomLeft": ofMember(.memberLeft)
        case "roomArchived": inRoom(.channelDeleted) { _ in }
        case "userCreated": described
        default: .ignored("the event of the URL is nothing to notify of")
        }
    }

    /// Of an upload both kinds of posts come: the one without words is told by the other.
    private var sent: DialectEvent {
        let text = words
        let isEncrypted = (body["t"] ?? body["message"]?["t"])?.text == "e2e" || (body["room"]?["encrypted"]).isTrue
        guard !isEncrypted else {
            return told { Message($0, type: "encrypted", text: nil, special: .encrypted) }
        }
        guard text?.isBlank == false else {
            return .ignored("it has no words: fileUploaded tells of what was uploaded")
        }
        return told { Message($0, type: "text", text: text) }
    }

    private var uploaded: DialectEvent {
        let message = body["message"]
        let isImage = message?["file"]?["type"]?.text?.hasPrefix("image/") == true
        let descriptions = (message?["attachments"]).elements.lazy.compactMap { $0["description"]?.text }
        let caption = words.flatMap { $0.isBlank ? nil : $0 } ?? descriptions.first { !$0.isBlank }
        return told { id in
            Message(id, type: isImage ? "image" : "file", text: nil, caption: caption, special: isImage ? nil : .file)
        }
    }

    private var words: String? { body["text"]?.text ?? body["message"]?["msg"]?.text }

    private func told(_ say: (JSONValue) -> Message) -> DialectEvent {
        if body["isEdited"].isTrue { return .ignored("it is an edit") }
        if post.settings.isOn(RocketChatDialect.ignoreBots), isOfBot { return .ignored("it is from a bot") }
        let message = body["message"] ?? [:]
        let sender = Person(body["user_id"], name: body["alias"] ?? body["user_name"]) ?? person(body["user"])
        guard let id = (body["message_id"] ?? message["_id"])?.messageID, let sender, let channel else {
            return .ignored("it has no usable message_id, channel_id or user_id")
        }
        let moment = clock.rfc3339(body["timestamp"] ?? message["ts"])
        var event = Event.sent(SourceID.of(.rocketchat, "message", id), at: moment, in: channel, by: sender)
        event.message = say(.string(id))
        return .known(event)
    }

    private func ofMember(_ type: EventType) -> DialectEvent {
        guard let user else { return .ignored("it names nobody by a usable id") }
        return inRoom(type) { event in
            event.members = [user]
            event.isOfNewMembersOnly = type == .memberJoined
        }
    }

    /// Whom it is about, in either of the forms that are sent.
    private var user: Person? { person(body["user"]) ?? Person(body["user_id"], name: body["user_name"]) }

    private func inRoom(_ type: EventType, _ fill: (inout Event) -> Void) -> DialectEvent {
        guard let channel else { return .ignored("it names no room by a usable id") }
        let time = clock.rfc3339(body["timestamp"])
        return .known(Event(sourceID: sourceID, type: type, timestamp: time, channel: channel), fill)
    }

    private var described: DialectEvent {
        guard let user else { return .ignored("it names nobody by a usable id") }
        return .known(Event(sourceID: sourceID, type: .userUpdated, timestamp: clock.now, actor: user))
    }

    /// There is no id: the kind is not in the body, so it goes with the body's digest.
    private var sourceID: String { SourceID.of(.rocketchat, kind, Proof.digest(post.bytes)) }

    private var isOfBot: Bool {
        switch body["bot"] {
        case nil, .bool(false)?, .string("")?, 0?: false
        default: true
        }
    }

    private var channel: Channel? {
        let room = body["room"] ?? [:]
        let name = body["channel_name"] ?? room["fname"] ?? room["name"]
        let isDirect = room["t"]?.text == "d" || body["channel_id"] != nil && name == nil
        return Channel(
            body["channel_id"] ?? room["_id"],
            name: name,
            namelessness: .generatedID,
            isDirect: isDirect ? true : nil
        )
    }

    private func person(_ value: JSONValue?) -> Person? {
        guard let value else { return nil }
        guard case .object = value else { return Person(value) }
        return Person(value["_id"], name: value["name"] ?? value["username"])
    }
}
