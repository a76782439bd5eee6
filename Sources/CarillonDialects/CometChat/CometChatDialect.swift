import CarillonCore

/// The webhooks of CometChat (DIALECTS section 6).
struct CometChatDialect: EventDialect {
    let name = DialectName.cometchat

    /// Nothing is signed.
    var proof: SenderProof { .basic }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        let body = try post.object()
        let trigger = try body.discriminator("trigger")
        return DialectReading([CometChatReading(trigger: trigger, body: body, post: post).event])
    }
}

struct CometChatReading {
    /// Bytes beyond which tokens are left as they are.
    private static let longestText = 16 << 10

    let trigger: String
    let body: JSONValue
    let post: DialectPost

    private var data: JSONValue { body["data"] ?? [:] }
    private var clock: SenderClock { post.clock }

    var event: DialectEvent {
        switch trigger {
        case "message_sent", "after_message": sent(data["message"] ?? data)
        case "message_deleted": deleted(data["message"] ?? data)
        case "group_created": created
        case "group_member_joined": moved(.memberJoined, by: nil)
        case "group_member_added": moved(.memberJoined, by: author)
        case "group_member_left": moved(.memberLeft, by: nil)
        case "group_member_kicked", "group_member_removed": moved(.memberLeft, by: author)
        case "group_member_banned": banned
        case "group_updated": inGroup(.channelUpdated, at: clock.seconds(data["group"]?["updatedAt"])) { _ in }
        case "group_deleted": inGroup(.channelDeleted, at: clock.now) { _ in }
        default: .ignored(kind: trigger)
        }
    }

    // MARK: - Messages

    private func sent(_ message: JSONValue) -> DialectEvent {
        let category = message["category"]?.text ?? "message"
        let said = message["data"] ?? [:]
        // Of a call its beginning is news; nothing tells what is said in it.
        let isCall = category == "call" && ["initiated", nil].contains((message["action"] ?? said["action"])?.text)
        guard ["message", "custom", "interactive"].contains(category) || isCall else {
            return .ignored("it is no message of a person")
        }
        let sender = entity(said["entities"]?["sender"]) ?? person(message["sender"])
        guard let sender, let id = message["id"]?.messageID, let place = place(of: message, from: sender) else {
            return .ignored("the message has no usable id, sender or receiver")
        }
        let mentioned = (said["mentions"]?.entries ?? []).compactMap { entry in
            person(entry.value) ?? Person(.string(entry.key))
        }
        let sourceID = SourceID.of(.cometchat, "message", body["appId"]?.idText ?? "", id)
        var event = Event.sent(sourceID, at: clock.seconds(message["sentAt"]), in: place.channel, by: sender)
        event.members = place.members
        let text = said["text"]?.text
        event.message =
            isCall
            ? Message(.string(id), type: "call", text: nil, special: .call)
            : Message(.string(id), content: message["type"]?.text, text: text.map { spelled($0, mentioned) })
        event.mentions = Set(mentioned.map(\.id))
        event.mentionsAll = text?.contains(Self.everybody) == true
        return .known(event)
    }

    /// What is deleted stands in the message of the deletion, beside who did it.
    private func deleted(_ action: JSONValue) -> DialectEvent {
        let entities = action["data"]?["entities"]
        let message = entities?["on"]?["entity"] ?? action
        let sender = entity(message["data"]?["entities"]?["sender"]) ?? person(message["sender"])
        return Event.deleted(
            message["id"],
            in: sender.flatMap { place(of: message, from: $0)?.channel },
            SourceID.of(.cometchat, "deleted", body["appId"]?.idText ?? "", message["id"]?.idText ?? ""),
            at: clock.seconds(message["deletedAt"] ?? action["sentAt"]),
            by: entity(entities?["by"])
        )
    }

    /// The group that a message was sent to, or the conversation of two. Which of the two names comes first is not promised.
    private func place(of message: JSONValue, from sender: Person) -> (channel: Channel, members: [Person])? {
        let receiver = message["data"]?["entities"]?["receiver"]
        if message["receiverType"]?.text == "group" {
            let name = (receiver?["entity"] ?? receiver)?["name"]
            return Channel(message["receiver"], name: name).map { ($0, []) }
        }
        guard let other = entity(receiver) ?? person(message["receiver"]) else { return nil }
        let pair = [sender.id, other.id].sorted().map(\.rawValue)
        let channel = Channel(.string(pair.joined(separator: "_user_")), namelessness: .stated, isDirect: true)
        return channel.map { ($0, [sender, other].unique) }
    }

    private static let everybody = "<@all:"

    /// A text with names in the place of tokens: `<@uid:bob>` is `@Bob`, and `<@all:everyone>` is `@everyone`. Read once from its
    /// beginning, as names may be written like tokens, and no further than a notification can show.
    private func spelled(_ text: String, _ mentioned: [Person]) -> String {
        let names = Dictionary(mentioned.map { ($0.id, $0.displayName ?? $0.id.rawValue) }) { first, _ in first }
        let pieces = text.split(separator: "<@", omittingEmptySubsequences: false)
        var spelled = String(pieces.first ?? "")
        for piece in pieces.dropFirst() where spelled.utf8.count < Self.longestText {
            let token = piece.prefix { $0 != ">" }
            if token.endIndex < piece.endIndex, let name = Self.name(in: token, names) {
                spelled += "@\(name)" + piece[piece.index(after: token.endIndex)...]
            } else {
                spelled += "<@" + piece
            }
        }
        return spelled
    }

    /// Who is meant by what stands between `<@` and `>`.
    private static func name(in token: Substring, _ names: [UserID: String]) -> String? {
        let parts = token.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("uid", 2): return UserID(parts[1]).flatMap { names[$0] }
        case ("all", 2): return parts[1].isBlank ? "all" : parts[1]
        default: return nil
        }
    }

    // MARK: - Groups

    private var created: DialectEvent {
        inGroup(.channelCreated, at: clock.seconds(data["group"]?["createdAt"])) { event in
            event.members = members
            event.actor = person(data["group"]?["owner"]).map { owner in
                members.first { $0.id == owner.id } ?? owner
            }
        }
    }

    private func moved(_ type: EventType, by actor: Person?) -> DialectEvent {
        guard !members.isEmpty else { return .ignored("it names nobody by a usable id") }
        return inGroup(type, at: clock.now) { event in
            event.members = members
            event.actor = actor
            event.isOfNewMembersOnly = type == .memberJoined
        }
    }

    /// Where an admin acts on somebody's behalf, CometChat lists that admin in the place of who is banned.
    private var banned: DialectEvent {
        if let author, !members.isEmpty, members.allSatisfy({ $0.id == author.id }) {
            return .ignored("it names who banned, and not who was banned")
        }
        return moved(.memberLeft, by: author)
    }

    private func inGroup(_ type: EventType, at moment: Timestamp, _ fill: (inout Event) -> Void) -> DialectEvent {
        let group = data["group"] ?? [:]
        guard let channel = Channel(of: group, id: "guid", name: "name") else {
            return .ignored("it has no usable guid")
        }
        let event = Event(
            sourceID: SourceID.of(.cometchat, body: post.bytes),
            type: type,
            timestamp: moment,
            channel: [.memberJoined, .memberLeft].contains(type)
                ? channel.described(at: (group["updatedAt"] ?? group["createdAt"]).map(clock.seconds)) : channel
        )
        return .known(event, fill)
    }

    // MARK: - What they call things

    /// Those in `members`, which is an object by ids, or an array.
    private var members: [Person] {
        (data["members"]?.entries ?? []).compactMap { entry in
            person(entry.value) ?? (entry.key.isEmpty ? nil : Person(.string(entry.key)))
        }.unique
    }

    private var author: Person? { entity(data["by"]) ?? person(data["by"]) }

    /// Somebody inside `{"entity":…,"entityType":"user"}`.
    private func entity(_ value: JSONValue?) -> Person? { value?["entity"].flatMap { person($0) } }

    /// Somebody as an object, or by the id alone.
    private func person(_ value: JSONValue?) -> Person? {
        guard let value else { return nil }
        guard case .object = value else { return Person(value) }
        return Person(value["uid"], name: value["name"], roles: value["role"].map { [$0] })
    }
}
