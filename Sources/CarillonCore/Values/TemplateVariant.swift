/// The cases that a title or a body may distinguish.
package enum TemplateVariant: String, Sendable, CaseIterable, Hashable {
    /// One person joined.
    case one
    /// Several joined at once.
    case many
    case text
    case image
    case other
    case poll
    case location
    case file
    case encrypted
    case sticker
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
