/// A channel came into being with its first members.
enum ChannelCreated: EventKind {
    static let name = "channel.created"
    static let fact: EventFact? = .join
    static let notifies = true
    static let needsChannelName = true

    static func read(_ data: inout EventData, into event: inout Event) {
        event.channel = data.channel()
        event.actor = data.user()
        event.members = data.people("members")
        if data.isWhole { event.invited = data.people("invited") }
    }

    static func audience(of event: Event, in channel: ChannelID) -> Audience {
        let meant = event.meant(event.members + event.invited)
        // Who is invited is no member yet.
        return event.invited.isEmpty ? .users(meant, in: channel) : .people(meant)
    }

    static func arguments(in part: TemplatePart) -> [TemplateArgument] { [.channel] }

    static func tell(_ event: Event, _ names: DirectoryNames, in subject: inout NotificationSubject) -> Bool { true }
}

/// A channel's name changed.
enum ChannelUpdated: EventKind {
    static let name = "channel.updated"
}

enum ChannelDeleted: EventKind {
    static let name = "channel.deleted"
    static let fact: EventFact? = .channelGone
}

/// People were invited to a channel; they are no members yet.
enum ChannelInvited: EventKind {
    static let name = "channel.invited"
    static let notifies = true
    static let variants: [TemplateVariant] = [.channel, .direct]

    static func read(_ data: inout EventData, into event: inout Event) {
        event.channel = data.channel()
        event.actor = data.user(required: true)
        event.invited = data.people("invited", required: true)
    }

    static func audience(of event: Event, in channel: ChannelID) -> Audience { .people(event.meant(event.invited)) }

    static func arguments(in part: TemplatePart) -> [TemplateArgument] { [.user, .channel] }
}
