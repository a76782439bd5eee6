import CarillonCore

struct TalkJSReading {
    let type: String
    let body: JSONValue
    let post: DialectPost

    private var data: JSONValue { body["data"] ?? [:] }
    private var clock: SenderClock { post.clock }

    private var sourceID: String {
        body["id"]?.idText.map { SourceID.of(.talkjs, $0) } ?? SourceID.of(.talkjs, body: post.bytes)
    }

    var event: DialectEvent {
        switch type {
        case "message.sent": sent
        case "message.deleted": messageDeleted
        case "conversation.deleted": deleted
        case "user.created", "user.updated": described
        default: .ignored(kind: type)
        }
    }

    private var sent: DialectEvent {
        let message = data["message"] ?? [:]
        guard message["type"]?.text != "SystemMessage" else { return .ignored("it is no message of a person") }
        let conversation = data["conversation"] ?? [:]
        guard let id = message["id"]?.messageID, let sender = person(data["sender"]) ?? Person(message["senderId"]),
            let channel = Channel(
                conversation["id"] ?? message["conversationId"],
                name: conversation["subject"],
                namelessness: conversation.has("subject") ? .stated : .generatedID,
                isDirect: participants.count >= 2 ? participants.count == 2 : nil
            )
        else { return .ignored("the message has no usable id, conversation or sender") }
        let moment = clock.milliseconds(message["createdAt"] ?? body["createdAt"])
        var event = Event.sent(sourceID, at: moment, in: channel, by: sender)
        event.mentions = data["mentionedUserIds"].elements.userIDs
        event.members = participants.map(\.person).unique
        // All who take part are listed: whoever is not has left, which no other event tells.
        if conversation["participants"] != nil {
            event.visibleTo = Set(participants.filter { isTold($0.wish, event.mentions, $0.person) }.map(\.person.id))
        }
        event.message = Message(.string(id), content: kind(of: message), text: message["text"]?.text)
        return .known(event)
    }

    private var messageDeleted: DialectEvent {
        let message = data["message"] ?? [:]
        return Event.deleted(
            message["id"],
            in: Channel(data["conversation"]?["id"] ?? message["conversationId"]),
            sourceID,
            at: clock.milliseconds(body["createdAt"])
        )
    }

    private func kind(of message: JSONValue) -> String {
        guard let attachment = message["attachment"] else { return message["location"] == nil ? "text" : "location" }
        let path = attachment["url"]?.text?.prefix { $0 != "?" && $0 != "#" }.lowercased() ?? ""
        let isImage = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic"].contains { path.hasSuffix($0) }
        return isImage ? "image" : "file"
    }

    private var deleted: DialectEvent {
        let conversation = data["conversation"] ?? [:]
        guard let channel = Channel(conversation["id"]) else { return .ignored("it has no usable conversation") }
        let moment = clock.milliseconds(body["createdAt"])
        return .known(Event(sourceID: sourceID, type: .channelDeleted, timestamp: moment, channel: channel))
    }

    private var described: DialectEvent {
        guard let user = person(data["user"]) else { return .ignored("it has no usable user") }
        let moment = clock.milliseconds(body["createdAt"])
        return .known(Event(sourceID: sourceID, type: .userUpdated, timestamp: moment, actor: user))
    }

    /// Who takes part in the conversation, and what they wish to hear of it.
    private var participants: [(person: Person, wish: JSONValue?)] {
        guard case .object(let participants)? = data["conversation"]?["participants"] else { return [] }
        return participants.members.compactMap { key, value in
            guard value["access"]?.text != "None", let person = Person(.string(key)) else { return nil }
            return (person, value["notify"])
        }
    }

    private func isTold(_ wish: JSONValue?, _ mentions: Set<UserID>, _ person: Person) -> Bool {
        switch wish {
        case .bool(false)?: false
        case .string("MentionsOnly")?: mentions.contains(person.id)
        default: true
        }
    }

    private func person(_ user: JSONValue?) -> Person? {
        guard let user else { return nil }
        return Person(user["id"], name: user["name"], locale: user["locale"], roles: user["role"].map { [$0] })
    }
}
