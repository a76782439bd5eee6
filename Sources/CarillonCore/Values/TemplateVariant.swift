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
