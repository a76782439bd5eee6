/// What a notification tells, in no language yet.
package enum NotificationSubject: Sendable, Hashable {
    /// The recipient is a member of a new channel.
    case channelCreated(channel: String, isDirect: Bool = false)
    /// A user, and perhaps others, joined a channel.
    case memberJoined(user: String, channel: String, furtherJoiners: Int, isDirect: Bool = false)
    /// A user wrote in a channel.
    case messageSent(user: String, channel: String, kind: Message.Kind, text: String, isDirect: Bool = false)
    /// Somebody sends texts of their own, which no template changes.
    case direct(DirectTexts)

    /// What an event tells; `nil` when nobody is notified of its type, or when it lacks what its type must carry.
    ///
    /// The event's own names go before the directory's. A name that is missing, or of which nothing is left when control
    /// characters are dropped, is replaced by the id.
    package init?(event: Event, names: DirectoryNames = .init()) {
        if event.type == .notificationDirect {
            guard let direct = event.direct else { return nil }
            self = .direct(direct.texts)
            return
        }
        guard let channel = event.channel else { return nil }
        let channelName = Self.name(channel.displayName, names.channel, else: channel.id.rawValue)
        let isDirect = channel.isDirect ?? names.isDirect
        let name = { (person: Person) in
            Self.name(person.displayName, names.people[person.id], else: person.id.rawValue)
        }
        switch event.type {
        case .channelCreated:
            self = .channelCreated(channel: channelName, isDirect: isDirect)
        case .memberJoined:
            guard let first = event.members.first else { return nil }
            let others = Set(event.members.map(\.id)).count - 1
            self = .memberJoined(
                user: name(first),
                channel: channelName,
                furtherJoiners: others,
                isDirect: isDirect
            )
        case .messageSent:
            guard let sender = event.actor, let message = event.message else { return nil }
            self = .messageSent(
                user: name(sender),
                channel: channelName,
                kind: message.kind,
                text: message.text,
                isDirect: isDirect
            )
        case .channelDeleted, .channelUpdated, .memberLeft, .notificationDirect, .userDeleted, .userUpdated, .other:
            return nil
        }
    }

    /// The type of event that it comes from.
    package var eventType: EventType {
        switch self {
        case .channelCreated: .channelCreated
        case .memberJoined: .memberJoined
        case .messageSent: .messageSent
        case .direct: .notificationDirect
        }
    }

    /// The variant of the title that tells it.
    package var titleVariant: TemplateVariant {
        switch self {
        case .channelCreated(_, let isDirect), .memberJoined(_, _, _, let isDirect),
            .messageSent(_, _, _, _, let isDirect):
            isDirect ? .direct : .channel
        case .direct: .channel
        }
    }

    /// The variant of the body that tells it; `nil` where there is only one.
    package var variant: TemplateVariant? {
        switch self {
        case .channelCreated, .direct: nil
        case .memberJoined(_, _, let furtherJoiners, _): furtherJoiners > 0 ? .many : .one
        case .messageSent(_, _, .text, _, _): .text
        case .messageSent(_, _, .image, _, _): .image
        case .messageSent(_, _, .other, _, _): .other
        }
    }

    /// What takes the place of a placeholder.
    enum Value: Equatable {
        /// What somebody or something is called: isolated where it runs against the sentence.
        case name(String)
        /// What somebody wrote.
        case words(String)
        /// A number.
        case count(Int)
    }

    /// What an argument stands for; no words where this has no such argument, which the check of a template excludes.
    func value(of argument: TemplateArgument) -> Value {
        switch (argument, self) {
        case (.user, .memberJoined(let user, _, _, _)), (.user, .messageSent(let user, _, _, _, _)): .name(user)
        case (.channel, .channelCreated(let channel, _)), (.channel, .memberJoined(_, let channel, _, _)),
            (.channel, .messageSent(_, let channel, _, _, _)):
            .name(channel)
        case (.message, .messageSent(_, _, _, let text, _)): .words(text)
        case (.furtherJoiners, .memberJoined(_, _, let count, _)): .count(count)
        default: .words("")
        }
    }

    private static func name(_ candidates: String?..., else id: String) -> String {
        for case .some(let name) in candidates
        where !name.withoutControls(onOneLine: false, maximumBytes: 0).isEmpty { return name }
        return id
    }
}
