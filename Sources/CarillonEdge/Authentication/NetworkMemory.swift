import CarillonCore

/// What is remembered for a while: so much of each network, and so much of all together.
///
/// A network that has too much makes room with what would be forgotten first; where all have too much together, the one does that
/// has most.
struct NetworkMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let end: ContinuousClock.Instant
    }

    private let ownCapacity: Int
    private let capacity: Int
    private var entries: [NetworkID: [Key: Entry]] = [:]

    /// How much is remembered.
    private(set) var count = 0

    /// - Parameters:
    ///   - ownCapacity: How much is remembered of one network.
    ///   - capacity: How much of all.
    init(ownCapacity: Int, capacity: Int) {
        self.ownCapacity = ownCapacity
        self.capacity = capacity
    }

    /// What is remembered, unless its time is over.
    func value(_ key: Key, in network: NetworkID, at now: ContinuousClock.Instant) -> Value? {
        entries[network]?[key].flatMap { now < $0.end ? $0.value : nil }
    }

    /// Remembers something until `end`.
    mutating func remember(
        _ value: Value,
        _ key: Key,
        in network: NetworkID,
        until end: ContinuousClock.Instant,
        at now: ContinuousClock.Instant
    ) {
        guard now < end else { return }
        forget(key, in: network)
        if entries[network]?.count ?? 0 >= ownCapacity { makeRoom(in: network, at: now) }
        if count >= capacity, let most = entries.max(by: { $0.value.count < $1.value.count })?.key {
            makeRoom(in: most, at: now)
        }
        entries[network, default: [:]][key] = Entry(value: value, end: end)
        count += 1
    }

    /// Forgets something.
    mutating func forget(_ key: Key, in network: NetworkID) {
        guard entries[network]?.removeValue(forKey: key) != nil else { return }
        count -= 1
        if entries[network]?.isEmpty == true { entries[network] = nil }
    }

    /// Forgets what is over, and otherwise a quarter, so that it is not asked for often.
    private mutating func makeRoom(in network: NetworkID, at now: ContinuousClock.Instant) {
        guard let before = entries[network] else { return }
        let most = before.count * 3 / 4
        var left = before.filter { now < $0.value.end }
        if left.count > most {
            let first = left.map { (key: $0.key, end: $0.value.end) }.sorted { $0.end < $1.end }
            for (key, _) in first.prefix(left.count - most) { left[key] = nil }
        }
        entries[network] = left.isEmpty ? nil : left
        count -= before.count - left.count
    }
}
