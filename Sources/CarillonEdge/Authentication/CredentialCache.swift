package import CarillonCore
package import Logging
import Synchronization

/// Remembers networks' credentials for a moment, so that not every request asks the database.
///
/// Requests for the same network share one reading. An unknown network is remembered too, and so is an API key that does
/// not exist; but a key that was not heard of before is looked for, so that a new one works at once in all replicas. When
/// the database is away, its error goes on to the caller: what is too old is not used. Replicas announce changes to each
/// other; where that fails, a revoked key works elsewhere for at most `timeToLive`.
package final class CredentialCache: Sendable {
    private struct Entry {
        let credentials: VerifiableCredentials?
        let loadedAt: ContinuousClock.Instant
    }

    private typealias Reading = Task<VerifiableCredentials?, any Error>

    private struct State {
        var entries: [NetworkID: Entry] = [:]
        var readings: [NetworkID: (number: Int, task: Reading)] = [:]
        var lastNumber = 0
    }

    private let accounts: any AccountStore
    private let announcements: Announcements
    private let lookup: KeyLookup
    private let timeToLive: Duration
    private let capacity: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger
    private let state = Mutex(State())

    /// A cache in front of `accounts`.
    ///
    /// - Parameters:
    ///   - accounts: Where credentials are read.
    ///   - announcements: Tells other replicas of changes, and this one of theirs.
    ///   - timeToLive: How long they are used before they are read anew.
    ///   - capacity: How many networks are remembered.
    ///   - logger: Where keys that cannot be read are reported.
    ///   - now: The time by which entries age.
    package init(
        accounts: any AccountStore,
        announcements: Announcements,
        timeToLive: Duration = .seconds(2),
        capacity: Int = 10_000,
        logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.accounts = accounts
        self.announcements = announcements
        lookup = KeyLookup(timeToLive: timeToLive, capacity: capacity, now: now) { names in
            try await accounts.existingAPIKeys(names)
        }
        self.timeToLive = timeToLive
        self.capacity = capacity
        self.logger = logger
        self.now = now
        announcements.subscribe(to: .network) { [weak self] network in self?.forget(network) }
    }

    /// How many networks are remembered.
    var count: Int { state.withLock { $0.entries.count } }

    /// How many API keys are remembered that do not exist.
    var rememberedUnknownKeys: Int { lookup.count }

    /// Forgets a network, because its credentials have just been changed here, and tells the other replicas.
    package func invalidate(_ id: NetworkID) {
        forget(id)
        announcements.announce(.network, in: id)
    }

    /// Forgets a network whose credentials may have been changed; without one all of them.
    private func forget(_ id: NetworkID?) {
        lookup.forget(id)
        state.withLock { state in
            if let id {
                state.entries[id] = nil
                state.readings[id] = nil
            } else {
                state.entries = [:]
                state.readings = [:]
            }
        }
    }

    /// The credentials of the network that an API key claims to belong to, with that key if it exists.
    ///
    /// - Throws: What the store throws.
    func credentials(holding key: APIKeySecret) async throws -> VerifiableCredentials? {
        let known = state.withLock { $0.entries[key.networkID]?.credentials != nil }
        // A network that nobody has used here is not read for every key that names it.
        let credentials = known ? try await credentials(of: key.networkID) : nil
        if let credentials, credentials.holds(key) { return credentials }
        guard try await lookup.finds(APIKeyName(networkID: key.networkID, id: key.id)) else { return credentials }
        if known { forget(key.networkID) }
        return try await self.credentials(of: key.networkID)
    }

    /// Whether a network was there when it was last looked for, or nobody needs to look to tell that it is not.
    func knows(_ id: NetworkID) -> Bool {
        state.withLock { state in
            guard let entry = state.entries[id] else { return state.readings[id] != nil }
            return entry.credentials != nil || now() - entry.loadedAt < timeToLive
        }
    }

    /// A network's credentials; `nil` when there is no such network.
    ///
    /// - Throws: What the store throws.
    package func credentials(of id: NetworkID) async throws -> VerifiableCredentials? {
        enum Step {
            case known(VerifiableCredentials?)
            case wait(Reading)
        }
        let step: Step = state.withLock { state in
            if let entry = state.entries[id], now() - entry.loadedAt < timeToLive { return .known(entry.credentials) }
            if let reading = state.readings[id] { return .wait(reading.task) }
            state.lastNumber += 1
            let number = state.lastNumber
            // Unstructured on purpose: it is shared, and must not end with the request that began it.
            let task = Reading { try await self.read(id, number: number) }
            state.readings[id] = (number, task)
            return .wait(task)
        }
        switch step {
        case .known(let credentials): return credentials
        case .wait(let task): return try await task.value
        }
    }

    private func read(_ id: NetworkID, number: Int) async throws -> VerifiableCredentials? {
        let startedAt = now()
        do {
            var credentials: VerifiableCredentials?
            if let stored = try await accounts.credentials(of: id) {
                credentials = await VerifiableCredentials(stored, logger: logger)
            }
            finish(id, number: number, Entry(credentials: credentials, loadedAt: startedAt))
            return credentials
        } catch {
            finish(id, number: number, nil)
            throw error
        }
    }

    /// Ends a reading. What was read before an invalidation is not kept.
    private func finish(_ id: NetworkID, number: Int, _ entry: Entry?) {
        state.withLock { state in
            guard state.readings[id]?.number == number else { return }
            state.readings[id] = nil
            if state.entries.count >= capacity {
                let oldest = now() - timeToLive
                state.entries = state.entries.filter { $0.value.loadedAt > oldest }
                if state.entries.count >= capacity { state.entries.removeAll() }
            }
            state.entries[id] = entry
        }
    }
}
