enum MemberJoined: EventKind {
    static let name = "member.joined"
    static let fact: EventFact? = .join
    static let isOfMembers = true
    static let notifies = true
    static let needsChannelName = true
    static let variants: [TemplateVariant] = [.one, .many]

    static func read(_ data: inout EventData, into event: inout Event) {
        event.channel = data.channel()
        event.actor = data.user()
        event.members = data.people("members", required: true)
        guard data.isWhole else { return }
        event.existingMembers = data.people("existingMembers")
        event.isOfNewMembersOnly = data.object.bool("newOnly") ?? false
    }

    static func arguments(in part: TemplatePart) -> [TemplateArgument] { [.user, .channel, .furtherJoiners] }

    static func tell(_ event: Event, _ names: DirectoryNames, in subject: inout NotificationSubject) -> Bool {
        guard let first = event.members.first else { return false }
        subject.user = names.name(of: first)
        subject.others = Set(event.members.map(\.id)).count - 1
        subject.variant = subject.others > 0 ? .many : .one
        return true
    }
}

enum MemberLeft: EventKind {
    static let name = "member.left"
    static let fact: EventFact? = .leave

    static func read(_ data: inout EventData, into event: inout Event) {
        event.channel = data.channel()
        event.actor = data.user()
        // Who leaves by themselves need not be named twice.
        let leaver = data.object.contains("members") && !data.object.isNull("members") ? nil : event.actor
        event.members = leaver.map { [$0] } ?? data.people("members", required: true)
    }
}
