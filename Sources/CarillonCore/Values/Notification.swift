/// The rendered title and body for an event, in one locale.
package struct Notification: Sendable, Hashable {
    /// The locale of the template that was used.
    package var locale: String
    /// One line.
    package var title: String
    package var body: String

    package init(locale: String, title: String, body: String) {
        self.locale = locale
        self.title = title
        self.body = body
    }
}
