/// What an API key may do (API section 2).
package enum APIKeyRole: String, Sendable, CaseIterable {
    /// Everything of its network.
    case admin
    /// Register and unregister devices; ships inside apps.
    case device
    case events
    /// Send notifications directly.
    case notify
}

/// An API key as it can be listed: without the key.
package struct APIKey: Sendable, Equatable {
    /// How many keys a network has at most.
    package static let maximumCount = 1_000

    /// The key's public half: what it is listed and revoked by.
    package var id: String
    package var networkID: NetworkID
    package var role: APIKeyRole
    /// What the admin calls it.
    package var label: String?
    package var createdAt: Timestamp

    package init(id: String, networkID: NetworkID, role: APIKeyRole, label: String?, createdAt: Timestamp) {
        self.id = id
        self.networkID = networkID
        self.role = role
        self.label = label
        self.createdAt = createdAt
    }
}

/// What became of the removal of an API key.
package enum APIKeyRemoval: Sendable, Equatable {
    case removed
    /// There is none of this id.
    case unknown
    /// It is the last one of role `admin`, and stays.
    case lastAdmin
}

/// What the database keeps of an API key: enough to recognise it, not enough to use it.
package struct StoredAPIKey: Sendable, Equatable {
    package var key: APIKey
    /// SHA-256 of the secret half (256 random bits, so that a slow hash would add nothing).
    package var secretHash: SecretHash

    package init(key: APIKey, secretHash: SecretHash) {
        self.key = key
        self.secretHash = secretHash
    }
}

/// What an API key is found by.
package struct APIKeyName: Sendable, Hashable {
    package var networkID: NetworkID
    /// The key's public half.
    package var id: String

    package init(networkID: NetworkID, id: String) {
        self.networkID = networkID
        self.id = id
    }
}
