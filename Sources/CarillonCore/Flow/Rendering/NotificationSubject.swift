/// What a notification tells, in no language yet.
package enum NotificationSubject: Sendable, Hashable {
    /// The recipient is a member of a new channel.
    case channelCreated(channel: String, isDirect: Bool = false)
    /// A user invites the recipient to a channel, which may have no name.
    case channelInvited(user: String, channel: String?, isDirect: Bool = false)
    /// A user, and perhaps others, joined a channel.
    case memberJoined(user: String, channel: String, furtherJoiners: Int, isDirect: Bool = false)
    /// A user wrote in a channel, which may have no name.
    case messageSent(
        user: String,
        channel: String?,
        kind: Message.Kind,
        text: String,
        special: Message.Special? = nil,
        isDirect: Bool = false
    )
    /// Somebody sends texts of their own, which no template changes.
    case direct(DirectTexts)

    /// What an event tells; `nil` when nobody is notified of its type, when it lacks what its type must carry, or when a channel
    /// without a name is all that it is about: of that its first message tells.
    ///
    /// The event's own names go before the directory's. The name of a person that is missing, or of which nothing is left when
    /// control characters are dropped, is replaced by the id.
    package init?(event: Event, names: DirectoryNames = .init()) {
        if event.type == .notificationDirect {
            guard let direct = event.direct else { return nil }
            self = .direct(direct.texts)
            return
        }
        guard let channel = event.channel else { return nil }
        let isDirect = channel.isDirect ?? names.isDirect
        let channelName = channel.shownName(stored: names.channel, isDirect: isDirect)
        let name = { (person: Person) in
            Self.name(person.displayName, names.people[person.id], else: person.id.rawValue)
        }
        switch event.type {
        case .channelCreated:
            guard let channelName else { return nil }
            self = .channelCreated(channel: channelName, isDirect: isDirect)
        case .channelInvited:
            guard let inviter = event.actor else { return nil }
            self = .channelInvited(user: name(inviter), channel: channelName, isDirect: isDirect)
        case .memberJoined:
            guard let channelName, let first = event.members.first else { return nil }
            let others = Set(event.members.map(\.id)).count - 1
            self = .memberJoined(
                user: name(first),
                channel: channelName,
                furtherJoiners: others,
                isDirect: isDirect
            )
        case .messageSent:
            guard let sender = event.actor, let message = event.message else { return nil }
            self.init(message, from: name(sender), in: channelName, isDirect: isDirect)
        case .channelDeleted, .channelUpdated, .memberLeft, .messageDeleted, .notificationDirect, .userDeleted,
            .userUpdated, .other:
            return nil
        }
    }

    /// What a message tells: its words, or what somebody wrote beside something else, or what that is.
    package init(_ message: Message, from user: String, in channel: String?, isDirect: Bool) {
        let hasWords = message.kind == .text && !message.text.isBlank
        let caption = hasWords ? nil : message.caption.flatMap { $0.isBlank ? nil : $0 }
        let kind: Message.Kind =
            if caption != nil { .text } else if message.kind == .text && !hasWords { .other } else { message.kind }
        self = .messageSent(
            user: user,
            channel: channel,
            kind: kind,
            text: caption ?? message.text,
            special: kind == .other ? message.special : nil,
            isDirect: isDirect
        )
    }

    /// The type of event that it comes from.
    package var eventType: EventType {
        switch self {
        case .channelCreated: .channelCreated
        case .channelInvited: .channelInvited
        case .memberJoined: .memberJoined
        case .messageSent: .messageSent
        case .direct: .notificationDirect
        }
    }

    /// Whether a text may name the channel.
    var hasChannelName: Bool {
        switch self {
        case .channelInvited(_, nil, _), .messageSent(_, nil, _, _, _, _): false
        case .channelCreated, .channelInvited, .memberJoined, .messageSent, .direct: true
        }
    }

    /// The variant of the title that tells it.
    package var titleVariant: TemplateVariant {
        switch self {
        case .channelCreated(_, let isDirect), .channelInvited(_, _, let isDirect),
            .memberJoined(_, _, _, let isDirect),
            .messageSent(_, _, _, _, _, let isDirect):
            isDirect || !hasChannelName ? .direct : .channel
        case .direct: .channel
        }
    }

    /// The variant of the body that tells it; `nil` where there is only one.
    package var variant: TemplateVariant? {
        switch self {
        case .channelCreated, .direct: nil
        case .channelInvited: hasChannelName ? .channel : .direct
        case .memberJoined(_, _, let furtherJoiners, _): furtherJoiners > 0 ? .many : .one
        case .messageSent(_, _, .text, _, _, _): .text
        case .messageSent(_, _, .image, _, _, _): .image
        case .messageSent(_, _, .other, _, let special, _): special.map(TemplateVariant.init) ?? .other
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
        case (.user, .channelInvited(let user, _, _)), (.user, .memberJoined(let user, _, _, _)),
            (.user, .messageSent(let user, _, _, _, _, _)):
            .name(user)
        case (.channel, .channelCreated(let channel, _)), (.channel, .memberJoined(_, let channel, _, _)),
            (.channel, .channelInvited(_, let channel?, _)), (.channel, .messageSent(_, let channel?, _, _, _, _)):
            .name(channel)
        case (.message, .messageSent(_, _, _, let text, _, _)): .words(text)
        case (.furtherJoiners, .memberJoined(_, _, let count, _)): .count(count)
        default: .words("")
        }
    }

    private static func name(_ candidates: String?..., else id: String) -> String {
        for case .some(let name) in candidates where !name.isBlank { return name }
        return id
    }
}
