/// What a notification tells, in no language yet.
package struct NotificationSubject: Sendable, Hashable {
    package let eventType: EventType
    /// The variant of the body that tells it; `nil` where there is only one.
    package var variant: TemplateVariant?
    package var user: String
    /// What the channel is called; `nil` where it has no name.
    package var channel: String?
    package var words: String
    /// How many it is about besides the user.
    package var others: Int
    /// Whether it happened in a conversation of two.
    package var isDirect: Bool
    /// What a sender wrote, which no template changes.
    var texts: DirectTexts?

    package init(
        _ eventType: EventType,
        _ variant: TemplateVariant? = nil,
        user: String = "",
        channel: String?,
        words: String = "",
        others: Int = 0,
        isDirect: Bool = false
    ) {
        self.eventType = eventType
        self.variant = variant
        self.user = user
        self.channel = channel
        self.words = words
        self.others = others
        self.isDirect = isDirect
    }

    package init(_ texts: DirectTexts) {
        self.init(.notificationDirect, channel: nil)
        self.texts = texts
    }

    /// What an event tells; `nil` when nobody is notified of its type, or when it lacks what its type must carry.
    package init?(event: Event, names: DirectoryNames = .init()) {
        if event.type == .notificationDirect {
            guard let direct = event.direct else { return nil }
            self.init(direct.texts)
            return
        }
        guard event.type.notifies, let channel = event.channel else { return nil }
        let isDirect = channel.isDirect ?? names.isDirect
        self.init(event.type, channel: channel.shownName(stored: names.channel, isDirect: isDirect), isDirect: isDirect)
        guard event.type.kind.tell(event, names, in: &self) else { return nil }
    }

    /// Whether a channel without a name is all that it is about: of that its first message tells.
    package var lacksName: Bool { channel == nil && eventType.kind.needsChannelName }

    var titleVariant: TemplateVariant { isDirect || channel == nil ? .direct : .channel }

    /// Tells a message: its words, or what somebody wrote beside something else, or what that is.
    package mutating func tell(_ message: Message, from user: String) {
        let hasWords = message.kind == .text && !message.text.isBlank
        let caption = hasWords ? nil : message.caption.flatMap { $0.isBlank ? nil : $0 }
        self.user = user
        words = caption ?? message.text
        if hasWords || caption != nil {
            variant = .text
        } else {
            variant = message.kind == .image ? .image : message.special.map(TemplateVariant.init) ?? .other
        }
    }

    /// What takes the place of a placeholder.
    enum Value: Equatable {
        /// What somebody or something is called: isolated where it runs against the sentence.
        case name(String)
        case words(String)
        case count(Int)
    }

    /// What an argument stands for; nothing where this has no such argument, which the check of a template excludes.
    func value(of argument: TemplateArgument) -> Value {
        switch argument {
        case .user: .name(user)
        case .channel: .name(channel ?? "")
        case .message: .words(words)
        case .furtherJoiners: .count(others)
        }
    }
}

/// What the directory knows of the channel and the people that an event names; the event's own words go before it.
package struct DirectoryNames: Sendable, Equatable {
    package var channel: String?
    /// Whether the channel is a conversation of two.
    package var isDirect: Bool
    package var people: [UserID: String]
    package var roles: [UserID: [String]] = [:]

    package init(
        channel: String? = nil,
        isDirect: Bool = false,
        people: [UserID: String] = [:]
    ) {
        self.channel = channel
        self.isDirect = isDirect
        self.people = people
    }

    /// What a person is called: as the event says, else as is known here, else by the id. A name must not be blank.
    package func name(of person: Person) -> String {
        for case let name? in [person.displayName, people[person.id]] where !name.isBlank { return name }
        return person.id.rawValue
    }
}
