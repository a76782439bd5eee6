package import CarillonCore
import struct Foundation.UUID

extension MemoryStore: ToggleStore {
    /// A document; an empty object of version 0 when it was never set.
    package func toggles(_ scope: ToggleScope, in network: NetworkID) async throws -> Versioned<JSONValue> {
        try withNetwork(network) { $0.toggles(scope).versioned }
    }

    /// Writes what `change` makes of the current document, all in one transaction that no other write can come between.
    package func updateToggles(
        _ scope: ToggleScope,
        in network: NetworkID,
        by writer: Writer,
        expected: (@Sendable (Int64) -> Bool)?,
        _ change: @escaping @Sendable (JSONValue) throws -> JSONValue
    ) async throws -> Versioned<JSONValue>? {
        let now = clock.now()
        return try withNetwork(network) { network in
            if case .channel(let user, _) = scope, writer == .user, network.toggles(scope).document == nil {
                let limit = network.network.limits[.channelsPerUser]
                let count = network.members.count { $0.key.user == user && $0.value.toggles.document != nil }
                guard count < limit else { throw LimitReached(.channelsPerUser, limit) }
            }
            var toggles = network.toggles(scope)
            if let expected, !expected(toggles.version) { return nil }
            toggles.document = try change(toggles.versioned.document)
            toggles.updatedAt = now
            toggles.version += 1
            network.set(toggles, scope)
            return toggles.versioned
        }
    }

    /// Takes a document away, so that the defaults hold again; its version goes on.
    package func removeToggles(
        _ scope: ToggleScope,
        in network: NetworkID,
        expected: (@Sendable (Int64) -> Bool)?
    ) async throws -> Bool {
        try withNetwork(network) { network in
            var toggles = network.toggles(scope)
            if let expected, !expected(toggles.version) { return false }
            guard toggles.document != nil else { return true }
            toggles.clear()
            network.set(toggles, scope)
            return true
        }
    }

    /// The three documents that decide for a user in a channel, read at one moment.
    package func toggles(for user: UserID, channel: ChannelID?, in network: NetworkID) async throws -> (
        network: Versioned<JSONValue>, user: Versioned<JSONValue>, channel: Versioned<JSONValue>
    ) {
        try withNetwork(network) { network in
            (
                network: network.toggles.versioned,
                user: network.toggles(.user(user)).versioned,
                channel: channel.map { network.toggles(.channel(user, $0)).versioned } ?? MemoryToggles().versioned
            )
        }
    }

    /// The channels that a user is a member of, in the order of their ids; `nil` when the user is unknown.
    package func channels(
        of user: UserID,
        in network: NetworkID,
        after: ChannelID?,
        limit: Int
    ) async throws -> [UserChannel]? {
        try withNetwork(network) { network in
            guard network.knownUser(user) != nil else { return nil }
            let ids = network.members.filter { $0.key.user == user && $0.value.isMember }.map(\.key.channel)
            let rest = ids.filter { id in after.map { $0 < id } ?? true }.sorted()
            return rest.prefix(limit).compactMap { id in
                network.knownChannel(id).map { known in
                    UserChannel(channel: known.channel, toggles: network.toggles(.channel(user, id)).versioned)
                }
            }
        }
    }
}

extension MemoryNetwork {
    /// A document, or none.
    func toggles(_ scope: ToggleScope) -> MemoryToggles {
        switch scope {
        case .network: toggles
        case .user(let user): users[user]?.toggles ?? MemoryToggles()
        case .channel(let user, let channel):
            members[MemoryMemberKey(channel: channel, user: user)]?.toggles ?? MemoryToggles()
        }
    }

    /// What a user set for a channel.
    func settings(of user: UserID, in channel: ChannelID?) -> ToggleSettings {
        ToggleSettings(
            user: UserToggles(document: toggles(.user(user)).versioned.document),
            channel: channel.map { ChannelToggles(document: toggles(.channel(user, $0)).versioned.document) }
                ?? ChannelToggles()
        )
    }

    fileprivate mutating func set(_ document: MemoryToggles, _ scope: ToggleScope) {
        switch scope {
        case .network:
            toggles = document
            newChanges.append(nil)
        case .user(let user):
            mention(user)
            users[user]?.toggles = document
            newChanges.append(user)
        case .channel(let user, let channel):
            mention(user)
            let key = MemoryMemberKey(channel: channel, user: user)
            let stranger = MemoryMember(isMember: false, since: 0, factsAt: .epoch)
            members[key, default: stranger].toggles = document
            newChanges.append(user)
        }
    }
}
