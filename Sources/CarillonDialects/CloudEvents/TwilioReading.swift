import CarillonCore

/// Reads what Twilio's Event Streams tell of Conversations.
struct TwilioReading {
    private static let prefix = "com.twilio.conversations."

    let sourceID: String
    let data: JSONValue
    let time: Timestamp

    /// What a type of Twilio's is about, such as `message.added`; `nil` for types of others.
    static func subject(of type: String) -> String? {
        type.hasPrefix(prefix) ? String(type.dropFirst(prefix.count)) : nil
    }

    func event(_ subject: String) -> DialectEvent {
        switch subject {
        case "message.added": sent
        case "message.removed":
            Event.deleted(data["MessageSid"], in: Channel(data["ConversationSid"]), sourceID, at: time)
        case "participant.added": ofParticipant(.memberJoined)
        case "participant.removed": ofParticipant(.memberLeft)
        case "conversation.added": inConversation(.channelCreated, isDescribed: true) { _ in }
        case "conversation.updated": inConversation(.channelUpdated, isDescribed: true) { _ in }
        case "conversation.removed": inConversation(.channelDeleted) { _ in }
        default: .ignored(kind: subject)
        }
    }

    private var sent: DialectEvent {
        guard let author = Person(data["Author"]), let id = data["MessageSid"]?.messageID else {
            return .unreadable("the message has no usable MessageSid or Author")
        }
        let media = data["Media"].elements.first
        let isImage = media?["ContentType"]?.text?.hasPrefix("image/") == true
        return inConversation(.messageSent) { event in
            event.actor = author
            // Neither the system nor a telephone is anybody in the conversation.
            event.senderIsMember = author.id.rawValue != "system" && !author.id.rawValue.hasPrefix("+")
            event.message = Message(
                .string(id),
                content: media == nil ? nil : isImage ? "image" : "file",
                text: data["MessageBody"]?.text
            )
        }
    }

    private func ofParticipant(_ type: EventType) -> DialectEvent {
        // Who takes part by telephone has none.
        guard let identity = data["Identity"], identity != "" else {
            return .ignored("the participant has no Identity")
        }
        guard let participant = Person(identity) else { return .unreadable("the participant has no usable Identity") }
        return inConversation(type) { event in
            event.members = [participant]
            event.isOfNewMembersOnly = type == .memberJoined
        }
    }

    private func inConversation(
        _ type: EventType,
        isDescribed: Bool = false,
        _ fill: (inout Event) -> Void
    ) -> DialectEvent {
        let channel = Channel(
            data["ConversationSid"],
            name: data["FriendlyName"],
            namelessness: isDescribed ? .stated : .generatedID
        )
        guard let channel else { return .unreadable("it has no usable ConversationSid") }
        return .known(Event(sourceID: sourceID, type: type, timestamp: time, channel: channel), fill)
    }
}
