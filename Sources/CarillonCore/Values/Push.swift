/// What a device is sent: the text in its language, and what somebody said beyond it.
package struct Push: Sendable, Equatable {
    package var notification: Notification
    /// Nearly always absent, and then one null pointer in every group.
    private var shared: Boxed<PushContent>?

    package init(_ notification: Notification, content: PushContent? = nil) {
        self.notification = notification
        shared = content.map(Boxed.init)
    }

    /// What goes beyond title and body; `nil` for the payload that is built of the event alone.
    package var content: PushContent? {
        get { shared?.wrappedValue }
        set { shared = newValue.map(Boxed.init) }
    }
}
