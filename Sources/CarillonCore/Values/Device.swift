import Crypto

/// One address of a user: where a provider can reach them (API section 6).
package struct Device: Sendable, Equatable {
    /// The ``error`` of a device that came with a notification until something is delivered to it; without that it is forgotten after a day.
    package static let firstError = "not delivered to yet"

    /// The id that the app chose for this installation.
    package var id: DeviceID
    /// The user who gets what is sent here; ``Identifier/nobody`` where nobody does.
    package var userID: UserID
    package var address: DeviceAddress
    package var state: DeviceState
    /// The language of this device, a BCP 47 tag; goes before the user's.
    package var locale: String?
    /// What its provider last complained of.
    package var error: String?
    /// When it was last registered: a provider's older report of its death is ignored.
    package var registeredAt: Timestamp
    /// When its address was obtained, where its registration does not tell; ``Timestamp/epoch`` where nobody knows, so that each
    /// report of its death is believed.
    package var obtainedAt: Timestamp?
    /// Whether it gets what is sent to everyone.
    package var broadcasts: Bool
    /// What other systems' APIs keep with it, and nobody else reads; a few kilobytes.
    package var attributes: JSONObject?
    /// SHA-256 of the installation's own secret: a registration with the same one is the same installation's, whoever uses it.
    package var secretHash: SecretHash?

    package init(
        id: DeviceID,
        userID: UserID,
        address: DeviceAddress,
        locale: String? = nil,
        state: DeviceState = .active,
        error: String? = nil,
        registeredAt: Timestamp,
        obtainedAt: Timestamp? = nil,
        broadcasts: Bool = true,
        attributes: JSONObject? = nil,
        secretHash: SecretHash? = nil
    ) {
        self.id = id
        self.userID = userID
        self.address = address
        self.locale = locale
        self.state = state
        self.error = error
        self.registeredAt = registeredAt
        self.obtainedAt = obtainedAt
        self.broadcasts = broadcasts
        self.attributes = attributes
        self.secretHash = secretHash
    }
}

extension DeviceID {
    /// The id of a device that nobody registered: `t-` and the SHA-256 of provider and address in base64url.
    ///
    /// Nobody else may have an id of that form: see ``isOfAddress``.
    package init(reachedAt address: DeviceAddress) {
        self.init(trusted: Self.addressPrefix + Base64URL.encode(address.digest))
    }

    private static let addressPrefix = "t-"

    /// Whether it has the form of an id that is made of an address.
    package var isOfAddress: Bool {
        rawValue.hasPrefix(Self.addressPrefix)
            && Base64URL.decode(rawValue.utf8.dropFirst(Self.addressPrefix.utf8.count))?.count == SHA256.byteCount
    }
}

package enum DeviceState: String, Sendable, CaseIterable {
    case active
    /// Its provider refused it for a reason that may be ours: kept, not sent to.
    case quarantined
    /// Its provider says that it is gone.
    case unregistered
}
