/// One tenant: a chat community with its own users, channels, keys, templates and switches.
package struct Network: Sendable, Equatable {
    /// The id that the operator chose.
    package var id: NetworkID
    /// The name to show to admins.
    package var displayName: String?
    /// The language of those who have not said theirs; a BCP 47 tag.
    package var defaultLocale: String?
    /// When the operator made it.
    package var createdAt: Timestamp

    /// A network by its parts.
    package init(id: NetworkID, displayName: String? = nil, defaultLocale: String? = nil, createdAt: Timestamp) {
        self.id = id
        self.displayName = displayName
        self.defaultLocale = defaultLocale
        self.createdAt = createdAt
    }
}
