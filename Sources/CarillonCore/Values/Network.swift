/// One tenant: a chat community with its own users, channels, keys, templates and switches.
package struct Network: Sendable, Equatable {
    package var id: NetworkID
    package var displayName: String?
    /// The language of those who have not said theirs; a BCP 47 tag.
    package var defaultLocale: String?
    package var deviceRegistration: DeviceRegistrationProof
    package var webPushHosts: WebPushHosts
    /// How long a user token may live; none lives longer than it says itself.
    package var userTokenMaxLifetime: Duration
    /// Who is asked about user tokens that are none of Carillon's; nobody where there are none.
    package var introspection: UserTokenIntrospection?
    package var limits: NetworkLimits
    package var createdAt: Timestamp
    /// Where all of it is kept; `nil` where there is one placement only.
    package var placement: PlacementName?

    /// A day: what leaks is of no use the day after.
    package static let defaultUserTokenMaxLifetime = Duration.seconds(86_400)

    /// A network by its parts; what is left out is as API section 2 has it by default.
    package init(
        id: NetworkID,
        displayName: String? = nil,
        defaultLocale: String? = nil,
        deviceRegistration: DeviceRegistrationProof = .userToken,
        webPushHosts: WebPushHosts = WebPushHosts(),
        userTokenMaxLifetime: Duration = Self.defaultUserTokenMaxLifetime,
        introspection: UserTokenIntrospection? = nil,
        limits: NetworkLimits = NetworkLimits(),
        createdAt: Timestamp
    ) {
        self.id = id
        self.displayName = displayName
        self.defaultLocale = defaultLocale
        self.deviceRegistration = deviceRegistration
        self.webPushHosts = webPushHosts
        self.userTokenMaxLifetime = userTokenMaxLifetime
        self.introspection = introspection
        self.limits = limits
        self.createdAt = createdAt
    }
}

/// What proves that somebody may register a device (API section 2).
package enum DeviceRegistrationProof: String, Sendable, CaseIterable {
    /// A token of the user who is to get what is sent there.
    case userToken
    /// The app's key: anybody with it can register for anybody, and so read anybody's notifications.
    case appKey
}
