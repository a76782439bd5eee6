import Synchronization

/// A bounded ``FairQueue`` between tasks: takers wait while it is empty, givers are told when it is full.
///
/// A key is full before the mailbox is: it may hold no more elements than there is room for others. So one key alone gets
/// half of the mailbox, two get a third each, and there is always some room for a key that comes later.
final class FairMailbox<Key: Hashable & Sendable, Element: Sendable>: Sendable {
    private struct State {
        var queue = FairQueue<Key, Element>()
        var weight = 0
        var reserved = 0
        /// The part of the reserved places that is kept for a key.
        var reservedByKey: [Key: Int] = [:]
        var takers: [CheckedContinuation<Void, Never>] = []
        var isClosed = false

        mutating func endReservation(of count: Int, for key: Key?) {
            reserved -= count
            guard let key, let rest = reservedByKey[key].map({ $0 - count }) else { return }
            reservedByKey[key] = rest > 0 ? rest : nil
        }
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let weight: @Sendable (Element) -> Int

    /// A mailbox.
    ///
    /// - Parameters:
    ///   - capacity: What all elements may weigh together, those for which only a place is reserved included.
    ///   - weight: What an element weighs, at least 1. A place is reserved for 1, since heavier ones are rare: those
    ///     may go beyond the capacity once, and keep others out until they are taken.
    init(capacity: Int, weight: @Sendable @escaping (Element) -> Int = { _ in 1 }) {
        self.capacity = capacity
        self.weight = weight
    }

    /// How many elements wait.
    var count: Int { state.withLock { $0.queue.count } }

    /// How many more would fit.
    var room: Int { state.withLock { room(in: $0) } }

    /// Everything that waits, for renewing leases.
    var elements: [Element] { state.withLock { $0.queue.elements } }

    /// Keeps `count` places free; `false` when there are not that many, or when the mailbox is closed.
    func reserve(_ count: Int) -> Bool {
        state.withLock { state in
            guard !state.isClosed, count <= room(in: state) else { return false }
            state.reserved += count
            return true
        }
    }

    /// Keeps `count` places free for a key; `false` also when it has its share already, counting what it has reserved.
    func reserve(_ count: Int, for key: Key) -> Bool {
        state.withLock { state in
            let own = state.queue.count(of: key) + state.reservedByKey[key, default: 0]
            guard !state.isClosed, own + 2 * count <= room(in: state) else { return false }
            state.reserved += count
            if count > 0 { state.reservedByKey[key, default: 0] += count }
            return true
        }
    }

    /// Gives reserved places back unused; `key` is the one that they were reserved for, if for one.
    func cancelReservation(_ count: Int, for key: Key? = nil) {
        state.withLock { $0.endReservation(of: count, for: key) }
    }

    /// Puts elements into places that were reserved for them, for `key` if for one; `false` when the mailbox was closed
    /// meanwhile.
    func fill(_ elements: [(key: Key, element: Element)], reservedFor key: Key? = nil) -> Bool {
        let takers: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            state.endReservation(of: elements.count, for: key)
            guard !state.isClosed else { return nil }
            for (key, element) in elements {
                state.queue.append(element, for: key)
                state.weight += weight(element)
            }
            defer { state.takers = [] }
            return state.takers
        }
        for taker in takers ?? [] { taker.resume() }
        return takers != nil
    }

    /// Takes up to `limit` elements, waiting for the first; empty once the mailbox is closed.
    func take(upTo limit: Int) async -> [Element] {
        while true {
            let (elements, isClosed) = state.withLock { state in
                let elements = state.isClosed ? [] : state.queue.popFirst(limit)
                for element in elements { state.weight -= weight(element) }
                return (elements, state.isClosed)
            }
            if isClosed || !elements.isEmpty { return elements }
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state in
                    guard state.queue.isEmpty, !state.isClosed else { return true }
                    state.takers.append(continuation)
                    return false
                }
                if ready { continuation.resume() }
            }
        }
    }

    /// Ends all waiting; from now on nothing is taken and nothing fits.
    func close() {
        let takers = state.withLock { state in
            state.isClosed = true
            defer { state.takers = [] }
            return state.takers
        }
        for taker in takers { taker.resume() }
    }

    /// Empties a closed mailbox, for its owner to give back what was inside.
    func drain() -> [Element] { state.withLock { $0.queue.popFirst(.max) } }

    private func room(in state: borrowing State) -> Int {
        state.isClosed ? 0 : max(0, capacity - state.weight - state.reserved)
    }
}
