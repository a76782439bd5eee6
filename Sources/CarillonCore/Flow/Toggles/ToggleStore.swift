/// A stored document with what an `ETag` needs.
package struct Versioned<Document: Sendable>: Sendable {
    package var document: Document
    /// When it was last set; `nil` when it never was.
    package var updatedAt: Timestamp?
    /// Counts the writes; 0 when it was never set.
    package var version: Int64

    package init(document: Document, updatedAt: Timestamp?, version: Int64) {
        self.document = document
        self.updatedAt = updatedAt
        self.version = version
    }
}

/// Which toggle document of a network is meant.
package enum ToggleScope: Sendable, Hashable {
    /// The admin's switches for everybody.
    case network
    case user(UserID)
    case channel(UserID, ChannelID)
}

/// A channel that a user is a member of, with what the user set for it.
package struct UserChannel: Sendable {
    package var channel: Channel
    package var toggles: Versioned<JSONValue>

    package init(channel: Channel, toggles: Versioned<JSONValue>) {
        self.channel = channel
        self.toggles = toggles
    }
}

/// The toggle documents, as the JSON that the API speaks.
package protocol ToggleStore: Sendable {
    /// A document; an empty object of version 0 when it was never set.
    func toggles(_ scope: ToggleScope, in network: NetworkID) async throws -> Versioned<JSONValue>

    /// Writes what `change` makes of the current document, all in one transaction that no other write can come between.
    ///
    /// - Returns: The new document, or `nil` when `expected` is given and the current version is another.
    /// - Throws: What `change` throws, and ``LimitReached`` when a user would have documents for more channels than the
    ///   network lets them; nothing is written then.
    func updateToggles(
        _ scope: ToggleScope,
        in network: NetworkID,
        by writer: Writer,
        expected: (@Sendable (Int64) -> Bool)?,
        _ change: @escaping @Sendable (JSONValue) throws -> JSONValue
    ) async throws -> Versioned<JSONValue>?

    /// Takes a document away, so that the defaults hold again and a user's place among those of the network's limit is free.
    /// Its version goes on, so that no later document is taken for an earlier one. Changes nothing where there is none.
    ///
    /// - Returns: Whether the current version was one of those that are `expected`.
    func removeToggles(
        _ scope: ToggleScope,
        in network: NetworkID,
        expected: (@Sendable (Int64) -> Bool)?
    ) async throws -> Bool

    /// The three documents that decide for a user in a channel, read at one moment.
    func toggles(for user: UserID, channel: ChannelID?, in network: NetworkID) async throws -> (
        network: Versioned<JSONValue>, user: Versioned<JSONValue>, channel: Versioned<JSONValue>
    )

    /// The channels that a user is a member of, in the order of their ids; `nil` when the user is unknown.
    func channels(of user: UserID, in network: NetworkID, after: ChannelID?, limit: Int) async throws -> [UserChannel]?
}
