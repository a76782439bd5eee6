@testable import CarillonCore

/// An invented kind, as a newcomer would declare it: people missed a call in a channel. In `Sources` it would be a file in
/// `CarillonCore/Values/Kinds`, and its name one more in `EventType.kinds`.
enum MissedCall: EventKind {
    static let name = "call.missed"
    // Whoever calls, or is called, is a member.
    static let fact: EventFact? = .belong
    static let notifies = true
    static let variants: [TemplateVariant] = [.channel, .direct]

    static func read(_ data: inout EventData, into event: inout Event) {
        event.channel = data.channel()
        event.actor = data.user(required: true)
        event.members = data.people("members", required: true)
    }

    static func audience(of event: Event, in channel: ChannelID) -> Audience {
        .users(event.meant(event.members), in: channel)
    }

    static func arguments(in part: TemplatePart) -> [TemplateArgument] { [.user, .channel] }
}
