import CarillonCore
import Synchronization

/// Finds out whether API keys exist that this replica has not heard of, and remembers for a moment which do not.
///
/// However many unknown keys come, there is one query at a time, for all that wait, and at most twenty a second.
final class KeyLookup: Sendable {
    /// Which of some keys there are.
    typealias Read = @Sendable (Set<APIKeyName>) async throws -> Set<APIKeyName>

    private typealias Query = Task<Set<APIKeyName>, any Error>

    private struct State {
        /// What the next query will ask for, and the query.
        var names: Set<APIKeyName> = []
        var next: Query?
        var last: Query?
        var earliest = ContinuousClock.now
        /// How often something was forgotten: what was asked before is not remembered.
        var generation = 0
    }

    /// Longer than any key's public half; so that nobody fills the memory with long ones.
    private static let longestID = 64
    private static let interval = Duration.milliseconds(50)
    private static let largestQuery = 1_000

    private let now: @Sendable () -> ContinuousClock.Instant
    private let read: Read
    private let absent: Remembered<APIKeyName, Void>
    private let state = Mutex(State())

    /// A look-up.
    ///
    /// - Parameters:
    ///   - timeToLive: How long a key stays unknown that was not found.
    ///   - capacity: How many of these are remembered.
    ///   - now: The time by which they age.
    ///   - read: Asks the store.
    init(
        timeToLive: Duration = .seconds(2),
        capacity: Int = 10_000,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        read: @escaping Read
    ) {
        self.now = now
        self.read = read
        absent = Remembered(capacity: capacity, now: now, network: \.networkID) { _, readAt in readAt + timeToLive }
    }

    var count: Int { absent.count }

    /// Whether there is such a key.
    ///
    /// - Throws: What the store throws.
    func finds(_ name: APIKeyName) async throws -> Bool {
        guard name.id.utf8.count <= Self.longestID, absent.remembered(name) == nil else { return false }
        let query: Query? = state.withLock { state in
            guard state.names.count < Self.largestQuery || state.names.contains(name) else { return nil }
            state.names.insert(name)
            if let next = state.next { return next }
            // Unstructured on purpose: it is shared, and must not end with the request that began it.
            let next = Query { [last = state.last] in try await self.query(after: last) }
            state.next = next
            return next
        }
        return try await query?.value.contains(name) ?? false
    }

    /// Forgets which keys of a network do not exist, because there are new ones; of all networks without one.
    func forget(_ network: NetworkID?) {
        state.withLock { state in
            state.generation += 1
            absent.forget(of: network)
        }
    }

    private func query(after last: Query?) async throws -> Set<APIKeyName> {
        _ = await last?.result
        try? await Task.sleep(until: state.withLock(\.earliest))
        let (names, generation) = state.withLock { state in
            defer { state.names = [] }
            (state.last, state.next) = (state.next, nil)
            state.earliest = .now + Self.interval
            return (state.names, state.generation)
        }
        let startedAt = now()
        let found = try await read(names)
        state.withLock { state in
            guard state.generation == generation else { return }
            for name in names.subtracting(found) { absent.keep((), as: name, readAt: startedAt) }
        }
        return found
    }
}
