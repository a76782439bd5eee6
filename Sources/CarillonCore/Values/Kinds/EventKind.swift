/// What events of one kind are: all that the pipeline asks of them. What a kind leaves out is as it is for most.
package protocol EventKind: SendableMetatype {
    /// Its name, in bodies and in the database.
    static var name: String { get }

    /// Takes from `data` what such events carry, and requires what they cannot do without; else channel and actor.
    static func read(_ data: inout EventData, into event: inout Event)

    /// Whether what it names is there: a notification's channel and actor may be anything.
    static var describesTheChat: Bool { get }
    /// What it says of the directory, beside names; else nothing.
    static var fact: EventFact? { get }

    /// Whether people are notified of it; else it only keeps the directory true.
    static var notifies: Bool { get }
    /// Whom it concerns, before it is asked who caused it; else the channel's members, if anybody.
    static func audience(of event: Event, in channel: ChannelID) -> Audience
    /// Whether its members are those who act, and are not told of it.
    static var isOfMembers: Bool { get }
    /// Whether it can be meant for somebody by name.
    static var canMention: Bool { get }

    /// Whether the channel's name is all that there is to tell.
    static var needsChannelName: Bool { get }
    /// The arguments of its texts by position: `%1s` is the first.
    static func arguments(in part: TemplatePart) -> [TemplateArgument]
    /// The variants that the body of its templates may have; none where there is nothing to distinguish.
    static var variants: [TemplateVariant] { get }
    /// Adds to a subject, which has the channel, what else is told: who caused it, as a rule. `false` where the event lacks it.
    static func tell(_ event: Event, _ names: DirectoryNames, in subject: inout NotificationSubject) -> Bool
}

/// What an event says of the directory.
package enum EventFact: Sendable {
    /// Its members are some from now on, and so is who caused it, unless it is ``EventKind/isOfMembers``.
    case join
    /// They are members, which is no news of whoever was one before.
    case belong
    case leave
    /// Who caused it is gone, with devices, memberships and toggles.
    case userGone
    /// Its channel is gone, and with it the memberships.
    case channelGone
    /// Its message is gone: nobody is to be told of it any more.
    case messageGone
}

extension EventKind {
    package static func read(_ data: inout EventData, into event: inout Event) {
        event.channel = data.channel()
        event.actor = data.user()
    }

    package static func audience(of event: Event, in channel: ChannelID) -> Audience {
        guard notifies else { return .nobody }
        return event.visibleTo.map { .users($0.sorted(), in: channel) } ?? .members(of: channel)
    }

    package static func arguments(in part: TemplatePart) -> [TemplateArgument] { [] }
    package static func tell(_ event: Event, _ names: DirectoryNames, in subject: inout NotificationSubject) -> Bool {
        guard let actor = event.actor else { return false }
        subject.user = names.name(of: actor)
        subject.variant = subject.channel == nil ? .direct : .channel
        return true
    }

    package static var describesTheChat: Bool { true }
    package static var fact: EventFact? { nil }
    package static var notifies: Bool { false }
    package static var isOfMembers: Bool { false }
    package static var canMention: Bool { false }
    package static var needsChannelName: Bool { false }
    package static var variants: [TemplateVariant] { [] }
}
