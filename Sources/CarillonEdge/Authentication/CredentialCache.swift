package import CarillonCore
package import Logging

/// Remembers networks' credentials for a moment, so that not every request asks the database.
///
/// Requests for the same network share one reading. An unknown network is remembered too, and so is an API key that does
/// not exist; but a key that was not heard of before is looked for, so that a new one works at once in all replicas. When
/// the database is away, its error goes on to the caller: what is too old is not used. Replicas announce changes to each
/// other; where that fails, a revoked key works elsewhere for at most `timeToLive`.
package final class CredentialCache: Sendable {
    private let accounts: any AccountStore
    private let announcements: Announcements
    /// Those who ask the same placement are gathered: one that is away keeps nobody else from being told.
    private let lookups: Placed<KeyLookup>
    private let logger: Logger
    private let known: Remembered<NetworkID, VerifiableCredentials?>

    package init(
        accounts: any AccountStore,
        placements: Placed<PlacementName> = .home,
        announcements: Announcements,
        timeToLive: Duration = .seconds(2),
        capacity: Int = 10_000,
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.accounts = accounts
        self.announcements = announcements
        lookups = placements.map { _ in
            KeyLookup(timeToLive: timeToLive, capacity: capacity, now: now) { names in
                try await accounts.existingAPIKeys(names)
            }
        }
        known = Remembered(capacity: capacity, now: now) { _, readAt in readAt + timeToLive }
        self.logger = logger
        announcements.subscribe(to: .network) { [weak self] network in self?.forget(network) }
    }

    var count: Int { known.count }

    var rememberedUnknownKeys: Int { lookups.ports.values.reduce(0) { $0 + $1.count } }

    /// Forgets a network, because its credentials have just been changed here, and tells the other replicas.
    package func invalidate(_ id: NetworkID) {
        forget(id)
        announcements.announce(.network, in: id)
    }

    /// Forgets a network whose credentials may have been changed; without one all of them.
    private func forget(_ id: NetworkID?) {
        for lookup in lookups.ports.values { lookup.forget(id) }
        known.forget(id)
    }

    /// The credentials of the network that an API key claims to belong to, with that key if it exists.
    func credentials(holding key: APIKeySecret) async throws -> VerifiableCredentials? {
        let isKnown = isKnown(key.networkID)
        // A network that nobody has used here is not read for every key that names it.
        let credentials = isKnown ? try await credentials(of: key.networkID) : nil
        if let credentials, credentials.holds(key) { return credentials }
        let lookup = try await lookups.of(key.networkID)
        guard try await lookup.finds(APIKeyName(networkID: key.networkID, id: key.id)) else { return credentials }
        if isKnown { forget(key.networkID) }
        return try await self.credentials(of: key.networkID)
    }

    /// Whether a network was there when it was last looked for, or nobody needs to look to tell that it is not.
    func knows(_ id: NetworkID) -> Bool {
        isKnown(id) || known.remembered(id) != nil || known.isReading(id)
    }

    /// Whether a network was there when its credentials were read last.
    private func isKnown(_ id: NetworkID) -> Bool { (known.last(id) ?? nil) != nil }

    /// The credentials of a network that are remembered.
    func remembered(_ id: NetworkID) -> VerifiableCredentials? { known.remembered(id) ?? nil }

    /// A network's credentials; `nil` when there is no such network.
    package func credentials(of id: NetworkID) async throws -> VerifiableCredentials? {
        try await known.value(of: id) { [accounts, logger] in
            guard let stored = try await accounts.credentials(of: id) else { return nil }
            return VerifiableCredentials(stored, logger: logger)
        }
    }
}
