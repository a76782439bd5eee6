package import CarillonCore

/// Provider tokens: one per key, for all connections of all replicas.
///
/// Apple refuses tokens older than an hour, and senders that make a new one more than once in 20 minutes. A token is
/// used for 45 minutes; the next one is whichever replica stores it first. Those who ask at the same time share one
/// renewal.
/// - SeeAlso: Apple, "Establishing a token-based connection to APNs".
package actor APNsTokenSource {
    /// Stores `candidate` under `key` unless there is a token that was issued at `ifOlderThan` or later, and answers the
    /// one that is stored then.
    package typealias Tokens =
        @Sendable (_ key: String, _ candidate: ProviderToken, _ ifOlderThan: Timestamp) async throws -> ProviderToken

    /// After how long a token is replaced.
    static let renewalAge = Duration.seconds(45 * 60)
    /// How long Apple takes it, less what clocks may differ by.
    static let longestAge = Duration.seconds(59 * 60)
    /// How long Apple wants a token to be used at least.
    static let shortestAge = Duration.seconds(20 * 60)
    /// More keys than these are not remembered.
    private static let mostKeys = 10_000

    private struct Entry {
        var token: ProviderToken?
        var pausedUntil: Timestamp?
        var renewal: Task<ProviderToken, any Error>?
    }

    private let tokens: Tokens
    private let clock: WallClock
    private var entries: [String: Entry] = [:]

    /// A source.
    /// - Parameters:
    ///   - tokens: Shares tokens with other replicas and over restarts.
    ///   - clock: The time that tokens carry.
    package init(tokens: @escaping Tokens, clock: WallClock = .system) {
        self.tokens = tokens
        self.clock = clock
    }

    /// The token to use now.
    ///
    /// When a renewal fails, an old one as long as Apple takes it.
    /// - Throws: What the store of tokens throws, or `CancellationError` when the task is cancelled while it waits.
    func token(for key: APNsSigningKey) async throws -> ProviderToken {
        let now = clock.now()
        let entry = entries[key.name]
        let isPaused = entry?.pausedUntil.map { now < $0 } ?? false
        let oldest = now - (isPaused ? Self.longestAge : Self.renewalAge)
        if let token = entry?.token, token.issuedAt >= oldest { return token }
        do {
            return try await renew(key, ifOlderThan: oldest)
        } catch let error as CancellationError {
            throw error
        } catch {
            guard let token = entries[key.name]?.token, token.issuedAt > now - Self.longestAge else { throw error }
            return token
        }
    }

    /// Another token than one that Apple takes for expired.
    /// - Returns: `nil` when there cannot be one yet, since the rejected one is new: then it is our clock that is wrong.
    /// - Throws: What the store of tokens throws, or `CancellationError` when the task is cancelled while it waits.
    func token(for key: APNsSigningKey, insteadOf rejected: ProviderToken) async throws -> ProviderToken? {
        let entry = entries[key.name]
        if let token = entry?.token, token.issuedAt > rejected.issuedAt { return token }
        let now = clock.now()
        let isPaused = entry?.pausedUntil.map { now < $0 } ?? false
        guard !isPaused, now - rejected.issuedAt >= Self.shortestAge else { return nil }
        let token = try await renew(key, ifOlderThan: rejected.issuedAt + .milliseconds(1))
        return token.issuedAt > rejected.issuedAt ? token : nil
    }

    /// Apple says that there were too many tokens: no new one for as long as it asks for.
    func pauseRenewal(of key: APNsSigningKey) {
        entries[key.name, default: Entry()].pausedUntil = clock.now() + Self.shortestAge
    }

    private func renew(_ key: APNsSigningKey, ifOlderThan oldest: Timestamp) async throws -> ProviderToken {
        try await (entries[key.name]?.renewal ?? startRenewal(of: key, ifOlderThan: oldest)).sharedResult.get()
    }

    /// Unstructured on purpose: it is shared, and must not end with the group that began it.
    private func startRenewal(
        of key: APNsSigningKey,
        ifOlderThan oldest: Timestamp
    ) -> Task<ProviderToken, any Error> {
        if entries.count >= Self.mostKeys { entries = entries.filter { $0.value.renewal != nil } }
        let now = clock.now()
        let renewal = Task {
            do {
                let token = try await tokens(key.name, try key.token(at: now), oldest)
                entries[key.name]?.token = token
                entries[key.name]?.renewal = nil
                return token
            } catch {
                entries[key.name]?.renewal = nil
                throw error
            }
        }
        entries[key.name, default: Entry()].renewal = renewal
        return renewal
    }
}
