enum MessageSent: EventKind {
    static let name = "message.sent"
    // Who writes in a channel is in it.
    static let fact: EventFact? = .belong
    static let notifies = true
    static let canMention = true
    static let variants = [.text, .image, .other] + TemplateVariant.special

    static func read(_ data: inout EventData, into event: inout Event) {
        event.channel = data.channel()
        event.actor = data.user(required: true)
        event.message = data.message()
        event.mentions = data.userIDs("mentions") ?? []
        guard data.isWhole else { return }
        event.members = data.people("members")
        event.mentionsAll = data.object.bool("mentionsAll") ?? false
        event.senderIsMember = data.object.bool("senderIsMember") ?? true
    }

    static func arguments(in part: TemplatePart) -> [TemplateArgument] {
        part == .title ? [.user, .channel] : [.message]
    }

    static func tell(_ event: Event, _ names: DirectoryNames, in subject: inout NotificationSubject) -> Bool {
        guard let sender = event.actor, let message = event.message else { return false }
        subject.tell(message, from: names.name(of: sender))
        return true
    }
}

enum MessageDeleted: EventKind {
    static let name = "message.deleted"
    static let fact: EventFact? = .messageGone

    static func read(_ data: inout EventData, into event: inout Event) {
        event.channel = data.channel()
        event.actor = data.user()
        guard var message = data.object.object("message", required: true) else { return }
        let longest = Identifier<Message>.maximumBytes
        let id = message.string("id", required: true, maximumBytes: longest, nonEmpty: true)
        event.message = Message(id: id, kind: .other, text: "")
    }
}
