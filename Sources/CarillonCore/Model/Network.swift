/// One tenant: a chat community with its own users, channels, keys, templates and switches.
public struct Network: Sendable, Equatable {
    /// The id that the operator chose.
    public var id: NetworkID
    /// The name to show to admins.
    public var displayName: String?
    /// The language of those who have not said theirs; a BCP 47 tag.
    public var defaultLocale: String?
    /// When the operator made it.
    public var createdAt: Timestamp

    /// A network by its parts.
    public init(id: NetworkID, displayName: String? = nil, defaultLocale: String? = nil, createdAt: Timestamp) {
        self.id = id
        self.displayName = displayName
        self.defaultLocale = defaultLocale
        self.createdAt = createdAt
    }
}
