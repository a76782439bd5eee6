/// A template as people write it: for one event type in one language, not yet checked (API section 7).
package struct TemplateSource: Sendable, Hashable {
    /// The longest title, in bytes of UTF-8.
    package static let maximumTitleBytes = 1_000
    /// The longest body or variant of one, in bytes of UTF-8.
    package static let maximumBodyBytes = 8_000

    /// One line with placeholders.
    package var title: TemplateWording
    /// The text below it, with placeholders.
    package var body: TemplateWording

    package init(title: TemplateWording, body: TemplateWording) {
        self.title = title
        self.body = body
    }
}

/// The title or the body of a template: the same for every case, or one for each.
package enum TemplateWording: Sendable, Hashable, ExpressibleByStringLiteral {
    /// One text for all variants of the event.
    case one(String)
    /// A text by variant; one that is left out is taken from the built-in template.
    case variants([TemplateVariant: String])

    /// One text for all variants.
    package init(stringLiteral text: String) { self = .one(text) }
}

/// The cases that a title or a body may distinguish.
package enum TemplateVariant: String, Sendable, CaseIterable, Hashable {
    /// One person joined.
    case one
    /// Several joined at once.
    case many
    /// The message is text.
    case text
    /// The message is a picture.
    case image
    /// The message is anything else.
    case other
    /// The message is a question with answers to choose from.
    case poll
    /// The message is a place.
    case location
    /// The message is a file.
    case file
    /// The message can be read by its recipients only.
    case encrypted
    /// The message is a sticker.
    case sticker
    /// The message is a call.
    case call
    /// It happened in a channel that has a name.
    case channel
    /// It happened in a conversation of two, or in a channel without a name.
    case direct

    /// The variant of something that is neither words nor a picture.
    init(_ special: Message.Special) { self = Self(rawValue: special.rawValue) ?? .other }

    /// Those that a template of messages need not have: it uses `other` for them.
    static let special = Message.Special.allCases.map(Self.init)
}

extension EventType {
    /// The variants that the title of its templates may have; none where there are no templates.
    package var titleVariants: [TemplateVariant] { notifies ? [.channel, .direct] : [] }

    /// The variants that the body of its templates may have; none where there is nothing to distinguish.
    package var templateVariants: [TemplateVariant] {
        switch self {
        case .memberJoined: [.one, .many]
        case .messageSent: [.text, .image, .other] + TemplateVariant.special
        case .channelInvited: [.channel, .direct]
        case .channelCreated, .channelDeleted, .channelUpdated, .memberLeft, .messageDeleted, .notificationDirect,
            .userDeleted, .userUpdated, .other:
            []
        }
    }
}
