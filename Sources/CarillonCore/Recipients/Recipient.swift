/// A user whom an event may concern, with everything that deciding and sending need to know of them.
public struct Recipient: Sendable, Equatable {
    /// The user.
    public var userID: UserID
    /// The user's language; a device's own goes before it.
    public var locale: String?
    /// What the user and the user's channel switches say.
    public var settings: ToggleSettings
    /// The user's active devices.
    public var devices: [Device]

    /// A recipient by their parts.
    public init(userID: UserID, locale: String? = nil, settings: ToggleSettings = .init(), devices: [Device] = []) {
        self.userID = userID
        self.locale = locale
        self.settings = settings
        self.devices = devices
    }
}
