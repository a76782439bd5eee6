/// Where something may be reached, in a network.
package struct AddressKey: Sendable, Hashable {
    package var networkID: NetworkID
    package var address: DeviceAddress
}

/// What is known of the device that is reached at an address that only one device can have.
package struct ReachedDevice: Sendable, Equatable {
    package var id: DeviceID
    package var provider: ProviderName
    /// The app whose credential is needed, or the server, as ``DeviceAddress/appID`` has it.
    package var appID: String
    /// Its own language.
    package var locale: String?
    package var state: DeviceState
    /// Since when it is not.
    package var outOfUseSince: Timestamp?
    /// When it was registered last, or came with a notification.
    package var registeredAt: Timestamp
    /// When its address was obtained, as far as anybody knows: what push services say of the time before is not believed.
    package var obtainedAt: Timestamp
    /// Whether it came with a notification, and nobody registered it.
    package var isTransient: Bool

    package init(
        id: DeviceID,
        provider: ProviderName,
        appID: String,
        locale: String? = nil,
        state: DeviceState,
        outOfUseSince: Timestamp?,
        registeredAt: Timestamp,
        obtainedAt: Timestamp,
        isTransient: Bool
    ) {
        self.id = id
        self.provider = provider
        self.appID = appID
        self.locale = locale
        self.state = state
        self.outOfUseSince = outOfUseSince
        self.registeredAt = registeredAt
        self.obtainedAt = obtainedAt
        self.isTransient = isTransient
    }
}
