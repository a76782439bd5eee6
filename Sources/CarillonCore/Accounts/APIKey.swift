/// What an API key may do (API section 2).
public enum APIKeyRole: String, Sendable, CaseIterable {
    /// Everything of its network.
    case admin
    /// Register and unregister devices; ships inside apps.
    case device
    /// Post events.
    case events
}

/// An API key as it can be listed: without the key.
public struct APIKey: Sendable, Equatable {
    /// The key's public half: what it is listed and revoked by.
    public var id: String
    /// The network it belongs to.
    public var networkID: NetworkID
    /// What it may do.
    public var role: APIKeyRole
    /// What the admin calls it.
    public var label: String?
    /// When it was made.
    public var createdAt: Timestamp

    /// A key by its parts.
    public init(id: String, networkID: NetworkID, role: APIKeyRole, label: String?, createdAt: Timestamp) {
        self.id = id
        self.networkID = networkID
        self.role = role
        self.label = label
        self.createdAt = createdAt
    }
}

/// What the database keeps of an API key: enough to recognise it, not enough to use it.
public struct StoredAPIKey: Sendable, Equatable {
    /// The key as it is listed.
    public var key: APIKey
    /// SHA-256 of the secret half (256 random bits, so that a slow hash would add nothing).
    public var secretHash: [UInt8]

    /// A stored key by its parts.
    public init(key: APIKey, secretHash: [UInt8]) {
        self.key = key
        self.secretHash = secretHash
    }
}
