/// A template as people write it: for one event type in one language, not yet checked (API section 7).
package struct TemplateSource: Sendable, Hashable {
    package static let maximumTitleBytes = 1_000
    /// The longest body or variant of one, in bytes of UTF-8.
    package static let maximumBodyBytes = 8_000

    /// One line with placeholders.
    package var title: TemplateWording
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

    package init(stringLiteral text: String) { self = .one(text) }
}
