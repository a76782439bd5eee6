/// The rendered title and body for an event, in one locale.
public struct Notification: Sendable, Hashable {
    /// The locale of the template that was used.
    public var locale: String
    /// One line.
    public var title: String
    /// The text below it.
    public var body: String

    /// A notification by its parts.
    public init(locale: String, title: String, body: String) {
        self.locale = locale
        self.title = title
        self.body = body
    }
}
