package import CarillonCore
import Synchronization

/// Remembers for some seconds what credentials there are, so that not every group reads, opens and parses one.
///
/// What is stored or removed is forgotten at once with ``forget(in:)``, wherever that was; should nobody have told this
/// replica, it finds out after ``lifetime``.
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
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// How often something was forgotten: what was read before is not kept.
        var generation = 0
    }

    /// How long a credential is remembered, and how long that there is none.
    static var lifetime: Duration { .seconds(10) }
    private static var capacity: Int { 10_000 }

    private let read: Read
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// A memory of what `read` answers.
    package init(
        now: @Sendable @escaping () -> ContinuousClock.Instant = { .now },
        read: @escaping Read
    ) {
        self.now = now
        self.read = read
    }

    /// A network's credential for an app; `nil` when there is none.
    ///
    /// - Throws: What reading throws.
    package func credential(of network: NetworkID, for appID: String = "") async throws -> Credential? {
        let key = Key(network: network, appID: appID)
        let startedAt = now()
        let (entry, generation) = state.withLock { ($0.entries[key], $0.generation) }
        if let entry, startedAt - entry.readAt < Self.lifetime { return entry.credential }
        let credential = try await read(network, appID)
        state.withLock { state in
            guard state.generation == generation else { return }
            if state.entries.count >= Self.capacity { state.entries = [:] }
            state.entries[key] = Entry(credential: credential, readAt: startedAt)
        }
        return credential
    }

    /// Forgets the credentials of a network, because one of them has just been changed; without one those of all.
    package func forget(in network: NetworkID?) {
        state.withLock { state in
            state.generation += 1
            state.entries = network.map { network in state.entries.filter { $0.key.network != network } } ?? [:]
        }
    }
}
