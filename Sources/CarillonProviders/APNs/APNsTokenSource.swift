package import CarillonCore

/// Provider tokens: one per key, for all connections of all replicas.
///
/// Apple refuses tokens older than an hour, and senders that make a new one more than once in 20 minutes. A token is
/// used for 45 minutes; the next one is whichever replica stores it first. Those who ask at the same time share one
/// renewal.
/// - SeeAlso: Apple, "Establishing a token-based connection to APNs".
package final class APNsTokenSource: Sendable {
    /// Stores `candidate` under `key` unless there is a token that was issued at `ifOlderThan` or later, and answers the
    /// one that is stored then. One that is ahead of the candidate's time is none.
    package typealias Tokens =
        @Sendable (_ key: String, _ candidate: ProviderToken, _ ifOlderThan: Timestamp) async throws -> ProviderToken

    static let renewalAge = Duration.seconds(45 * 60)
    /// How long Apple takes it, less what clocks may differ by.
    static let longestAge = Duration.seconds(59 * 60)
    /// How long Apple wants a token to be used at least.
    static let shortestAge = Duration.seconds(20 * 60)
    /// More keys than these are not remembered.
    private static let mostKeys = 10_000

    private let tokens: Tokens
    private let clock: WallClock
    private let known: Remembered<String, ProviderToken>
    /// Until when there is no new token of a key.
    private let pauses: Remembered<String, Timestamp>

    /// A source of tokens that `tokens` shares with other replicas and over restarts.
    package init(tokens: @escaping Tokens, clock: WallClock = .system) {
        self.tokens = tokens
        self.clock = clock
        known = Remembered(capacity: Self.mostKeys) { _, readAt in readAt + Self.longestAge }
        pauses = Remembered(capacity: Self.mostKeys) { _, readAt in readAt + Self.shortestAge }
    }

    /// The token to use now.
    ///
    /// When a renewal fails, an old one as long as Apple takes it.
    /// - Throws: What the store of tokens throws, or `CancellationError` when the task is cancelled while it waits.
    func token(for key: APNsSigningKey) async throws -> ProviderToken {
        let now = clock.now()
        let oldest = now - (isPaused(key, at: now) ? Self.longestAge : Self.renewalAge)
        do {
            return try await token(for: key, ifOlderThan: oldest)
        } catch let error as CancellationError {
            throw error
        } catch {
            guard let token = known.last(key.name), token.issuedAt > now - Self.longestAge, !token.isAhead(of: now)
            else { throw error }
            return token
        }
    }

    /// Another token than one that Apple takes for expired.
    /// - Returns: `nil` when there cannot be one yet, since the rejected one is new: then it is our clock that is wrong.
    /// - Throws: What the store of tokens throws, or `CancellationError` when the task is cancelled while it waits.
    func token(for key: APNsSigningKey, insteadOf rejected: ProviderToken) async throws -> ProviderToken? {
        let now = clock.now()
        if rejected.isAhead(of: now) {
            let token = try await token(for: key)
            return token == rejected ? nil : token
        }
        guard !isPaused(key, at: now), now - rejected.issuedAt >= Self.shortestAge else {
            return known.last(key.name).flatMap { $0.issuedAt > rejected.issuedAt ? $0 : nil }
        }
        let token = try await token(for: key, ifOlderThan: rejected.issuedAt + .milliseconds(1))
        return token.issuedAt > rejected.issuedAt ? token : nil
    }

    /// Apple says that there were too many tokens: no new one for as long as it asks for.
    func pauseRenewal(of key: APNsSigningKey) {
        pauses.keep(clock.now() + Self.shortestAge, as: key.name, readAt: .now)
    }

    private func isPaused(_ key: APNsSigningKey, at now: Timestamp) -> Bool {
        pauses.last(key.name).map { now < $0 } ?? false
    }

    private func token(for key: APNsSigningKey, ifOlderThan oldest: Timestamp) async throws -> ProviderToken {
        let now = clock.now()
        return try await known.value(
            of: key.name,
            while: { $0.issuedAt >= oldest && !$0.isAhead(of: now) }
        ) { [tokens, clock] in
            try await tokens(key.name, try key.token(at: clock.now()), oldest)
        }
    }
}
