import CarillonCore

/// Finds out whether API keys exist that this replica has not heard of, and remembers for a moment which do not.
///
/// However many unknown keys come, there is one query at a time, for all that wait, and at most twenty a second.
final class KeyLookup: Sendable {
    /// Longer than any key's public half; so that nobody fills the memory with long ones.
    private static let longestID = 64
    private static let interval = Duration.milliseconds(50)
    private static let largestQuery = 1_000

    /// The keys that were not found lately.
    private let absent: Remembered<APIKeyName, Void>
    private let queries: PacedReading<Set<APIKeyName>, Set<APIKeyName>>

    /// A look-up for which a key stays unknown for a while (`timeToLive`) that was not found, as far as so many are remembered.
    init(
        timeToLive: Duration = .seconds(2),
        capacity: Int = 10_000,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        read: @escaping @Sendable (Set<APIKeyName>) async throws -> Set<APIKeyName>
    ) {
        let absent = Remembered<APIKeyName, Void>(capacity: capacity, now: now, network: \.networkID) { _, readAt in
            readAt + timeToLive
        }
        self.absent = absent
        queries = PacedReading(every: Self.interval, asking: []) { names in
            let (generation, startedAt) = (absent.generation, now())
            let found = try await read(names)
            absent.keep((), as: names.subtracting(found), readAt: startedAt, in: generation)
            return found
        }
    }

    var count: Int { absent.count }

    func finds(_ name: APIKeyName) async throws -> Bool {
        guard name.id.utf8.count <= Self.longestID, absent.remembered(name) == nil else { return false }
        let found = try await queries.answer { names in
            guard names.count < Self.largestQuery || names.contains(name) else { return false }
            names.insert(name)
            return true
        }
        return found?.contains(name) ?? false
    }

    /// Forgets which keys of a network do not exist, because there are new ones; of all networks without one.
    func forget(_ network: NetworkID?) { absent.forget(of: network) }
}
