/// A user whom an event may concern, with everything that deciding and sending need to know of them.
package struct Recipient: Sendable, Equatable {
    package var userID: UserID
    /// The user's language; a device's own goes before it.
    package var locale: String?
    /// What the user and the user's channel switches say.
    package var settings: ToggleSettings
    /// The user's active devices.
    package var devices: [Device]

    package init(userID: UserID, locale: String? = nil, settings: ToggleSettings = .init(), devices: [Device] = []) {
        self.userID = userID
        self.locale = locale
        self.settings = settings
        self.devices = devices
    }

    package func devices(for content: PushContent?) -> [Device] {
        content.map { content in devices.filter { content.isSent(through: $0.address.provider) } } ?? devices
    }
}
