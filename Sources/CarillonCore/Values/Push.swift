/// What a device is sent: the text in its language, and what somebody said beyond it.
package struct Push: Sendable, Equatable {
    package var notification: Notification
    /// Nearly always absent, and then one null pointer in every group.
    private var shared: SharedContent?

    package init(_ notification: Notification, content: PushContent? = nil) {
        self.notification = notification
        shared = content.map(SharedContent.init)
    }

    /// What goes beyond title and body; `nil` for the payload that is built of the event alone.
    package var content: PushContent? {
        get { shared?.content }
        set { shared = newValue.map(SharedContent.init) }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.notification == right.notification && (left.shared === right.shared || left.content == right.content)
    }

    private final class SharedContent: Sendable {
        let content: PushContent

        init(_ content: PushContent) { self.content = content }
    }
}
