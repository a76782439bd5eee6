package import CarillonCore
import Synchronization

/// Remembers for some seconds what credentials there are, so that not every group reads, opens and parses one.
///
/// What is stored or removed is forgotten at once with ``forget(in:)``, wherever that was, also by those who have it in hand;
/// should nobody have told this replica, it finds out after ``lifetime``.
package final class RememberedCredentials<Credential: Sendable>: Sendable {
    /// Reads a credential of a network and an app; `nil` when there is none.
    package typealias Read = @Sendable (NetworkID, String) async throws -> Credential?

    private struct Key: Hashable {
        var network: NetworkID
        var appID: String
    }

    private struct Entry {
        var credential: Credential?
        var readAt: ContinuousClock.Instant
        var generation: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// How often something was forgotten.
        var generation = 0
        /// When that was last of a network: what was read before is not kept, and not sent with any more.
        var forgotten: [NetworkID: Int] = [:]
        /// The same of all networks that are not in there.
        var forgottenOfOthers = 0

        func isCurrent(_ network: NetworkID, since generation: Int) -> Bool {
            (forgotten[network] ?? forgottenOfOthers) <= generation
        }
    }

    private let lifetime: Duration
    private static var capacity: Int { 10_000 }

    private let read: Read
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// A memory of what `read` answers.
    /// - Parameters:
    ///   - lifetime: How long a credential is remembered, and how long that there is none; zero to read it each time.
    ///   - now: The time.
    ///   - read: Reads a credential.
    package init(
        lifetime: Duration = .seconds(10),
        now: @Sendable @escaping () -> ContinuousClock.Instant = { .now },
        read: @escaping Read
    ) {
        self.lifetime = lifetime
        self.now = now
        self.read = read
    }

    /// A network's credential for an app; `nil` when there is none.
    ///
    /// - Throws: What reading throws.
    package func credential(
        of network: NetworkID,
        for appID: String = ""
    ) async throws -> CurrentCredential<Credential>? {
        let key = Key(network: network, appID: appID)
        let startedAt = now()
        let (known, generation) = state.withLock { ($0.entries[key], $0.generation) }
        if let known, startedAt - known.readAt < lifetime { return current(known, of: network) }
        let entry = Entry(
            credential: try await read(network, appID),
            readAt: startedAt,
            generation: generation
        )
        state.withLock { state in
            guard lifetime > .zero, state.isCurrent(network, since: generation) else { return }
            if state.entries.count >= Self.capacity { state.entries = [:] }
            state.entries[key] = entry
        }
        return current(entry, of: network)
    }

    private func current(_ entry: Entry, of network: NetworkID) -> CurrentCredential<Credential>? {
        entry.credential.map { credential in
            CurrentCredential(value: credential) {
                self.state.withLock { $0.isCurrent(network, since: entry.generation) }
            }
        }
    }

    /// Forgets the credentials of a network, because one of them has just been changed; without one those of all.
    package func forget(in network: NetworkID?) {
        state.withLock { state in
            state.generation += 1
            if state.forgotten.count >= Self.capacity || network == nil {
                state.forgotten = [:]
                state.forgottenOfOthers = state.generation
            }
            if let network { state.forgotten[network] = state.generation }
            state.entries = network.map { network in state.entries.filter { $0.key.network != network } } ?? [:]
        }
    }
}
