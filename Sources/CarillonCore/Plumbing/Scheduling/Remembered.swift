import Synchronization

/// Values that are remembered for a while, and read when they are wanted after that.
///
/// Those who want the same one at the same time share a reading, which goes on when whoever began it gives up, but has no more
/// time than the ``UnitOfWork`` that it was begun for. A reading that began before its value was forgotten is neither shared nor
/// kept any more; one that fails leaves everything as it was.
/// What is over makes room for others, and after that, of each network's share, what would be over first: the largest shares
/// shrink until a quarter is free.
package final class Remembered<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    package typealias Reading = Task<Value, any Error>

    private enum Step {
        case known(Value)
        case wait(Reading)
    }

    private struct Entry {
        let value: Value
        let end: ContinuousClock.Instant
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var readings: [Key: (number: Int, task: Reading)] = [:]
        var lastNumber = 0
        var generation = 0
    }

    private let capacity: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let network: @Sendable (Key) -> NetworkID?
    private let end: @Sendable (Value, ContinuousClock.Instant) -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: How many values are remembered.
    ///   - now: The time.
    ///   - network: Whose share a key is counted to.
    ///   - end: Until when a value is remembered whose reading began at a moment; that moment, and it is not remembered.
    package init(
        capacity: Int,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        network: @escaping @Sendable (Key) -> NetworkID? = { _ in nil },
        until end: @escaping @Sendable (Value, ContinuousClock.Instant) -> ContinuousClock.Instant
    ) {
        self.capacity = capacity
        self.now = now
        self.network = network
        self.end = end
    }

    package var count: Int { state.withLock { $0.entries.count } }

    package func remembered(_ key: Key) -> Value? {
        let moment = now()
        return state.withLock { $0.entries[key] }.flatMap { moment < $0.end ? $0.value : nil }
    }

    /// A value as it was read last, even if it is over; `nil` also when it had to make room.
    package func last(_ key: Key) -> Value? { state.withLock { $0.entries[key]?.value } }

    package func isReading(_ key: Key) -> Bool { state.withLock { $0.readings[key] != nil } }

    /// A value that is remembered and may be used as `isGood` says; otherwise the one that is being read, or that `read` reads now.
    ///
    /// - Throws: What `read` throws, or `CancellationError` when the task is cancelled while it waits.
    package func value(
        of key: Key,
        while isGood: (Value) -> Bool = { _ in true },
        _ read: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let moment = now()
        let step: Step = state.withLock { state in
            if let entry = state.entries[key], moment < entry.end, isGood(entry.value) { return .known(entry.value) }
            return .wait(reading(of: key, from: moment, read, &state))
        }
        switch step {
        case .known(let value): return value
        case .wait(let task): return try await task.sharedResult.get()
        }
    }

    /// The reading of a value, of which whoever asks from now on has a part; for what nothing is remembered of.
    package func reading(of key: Key, _ read: @escaping @Sendable () async throws -> Value) -> Reading {
        let moment = now()
        return state.withLock { reading(of: key, from: moment, read, &$0) }
    }

    private func reading(
        of key: Key,
        from moment: ContinuousClock.Instant,
        _ read: @escaping @Sendable () async throws -> Value,
        _ state: inout State
    ) -> Reading {
        if let reading = state.readings[key] { return reading.task }
        state.lastNumber += 1
        let number = state.lastNumber
        // Unstructured on purpose: it is shared, and must not end with whoever began it.
        let task = Reading {
            do {
                let value = try await read()
                finish(number, of: key, value, readAt: moment)
                return value
            } catch {
                finish(number, of: key, nil, readAt: moment)
                throw error
            }
        }
        state.readings[key] = (number, task)
        return task
    }

    /// How often something was forgotten.
    package var generation: Int { state.withLock(\.generation) }

    /// Remembers a value that somebody has read, from a moment on.
    package func keep(_ value: Value, as key: Key, readAt moment: ContinuousClock.Instant) {
        state.withLock { keep(value, as: key, readAt: moment, &$0) }
    }

    /// Remembers a value of several keys, unless anything was forgotten since it was begun to be read.
    package func keep(
        _ value: Value,
        as keys: some Sequence<Key>,
        readAt moment: ContinuousClock.Instant,
        in generation: Int
    ) {
        state.withLock { state in
            guard state.generation == generation else { return }
            for key in keys { keep(value, as: key, readAt: moment, &state) }
        }
    }

    /// Forgets a value; without a key all of them.
    package func forget(_ key: Key?) {
        state.withLock { state in
            state.generation += 1
            if let key {
                state.entries[key] = nil
                state.readings[key] = nil
            } else {
                (state.entries, state.readings) = ([:], [:])
            }
        }
    }

    /// Forgets all values of a network; without one those of all.
    package func forget(of owner: NetworkID?) {
        guard let owner else { return forget(nil) }
        state.withLock { state in
            state.generation += 1
            state.entries = state.entries.filter { network($0.key) != owner }
            state.readings = state.readings.filter { network($0.key) != owner }
        }
    }

    private func finish(_ number: Int, of key: Key, _ value: Value?, readAt moment: ContinuousClock.Instant) {
        state.withLock { state in
            guard state.readings[key]?.number == number else { return }
            state.readings[key] = nil
            if let value { keep(value, as: key, readAt: moment, &state) }
        }
    }

    private func keep(_ value: Value, as key: Key, readAt moment: ContinuousClock.Instant, _ state: inout State) {
        state.entries[key] = nil
        let end = end(value, moment)
        guard moment < end else { return }
        if state.entries.count >= capacity { makeRoom(in: &state.entries) }
        state.entries[key] = Entry(value: value, end: end)
    }

    private func makeRoom(in entries: inout [Key: Entry]) {
        let moment = now()
        entries = entries.filter { moment < $0.value.end }
        let excess = entries.count - capacity * 3 / 4
        guard excess > 0 else { return }
        var ranks: [(rank: Int, key: Key)] = []
        for share in Dictionary(grouping: entries, by: { network($0.key) }).values {
            for (rank, entry) in share.sorted(by: { $0.value.end > $1.value.end }).enumerated() {
                ranks.append((rank, entry.key))
            }
        }
        for (_, key) in ranks.sorted(by: { $0.rank > $1.rank }).prefix(excess) { entries[key] = nil }
    }
}
