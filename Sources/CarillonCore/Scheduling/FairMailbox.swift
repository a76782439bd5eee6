import Synchronization

/// A bounded ``FairQueue`` between tasks: takers wait while it is empty, givers are told when it is full.
final class FairMailbox<Key: Hashable & Sendable, Element: Sendable>: Sendable {
    private struct State {
        var queue = FairQueue<Key, Element>()
        var reserved = 0
        var takers: [CheckedContinuation<Void, Never>] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// A mailbox for at most `capacity` elements, those for which only a place is reserved included.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// How many elements wait.
    var count: Int { state.withLock { $0.queue.count } }

    /// How many more would fit.
    var room: Int { state.withLock { $0.isClosed ? 0 : max(0, capacity - $0.queue.count - $0.reserved) } }

    /// Everything that waits, for renewing leases.
    var elements: [Element] { state.withLock { $0.queue.elements } }

    /// Keeps `count` places free; `false` when there are not that many, or when the mailbox is closed.
    func reserve(_ count: Int) -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.queue.count + state.reserved + count <= capacity else { return false }
            state.reserved += count
            return true
        }
    }

    /// Gives reserved places back unused.
    func cancelReservation(_ count: Int) {
        state.withLock { $0.reserved -= count }
    }

    /// Puts elements into places that were reserved for them; `false` when the mailbox was closed meanwhile.
    func fill(_ elements: [(key: Key, element: Element)]) -> Bool {
        let takers: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            state.reserved -= elements.count
            guard !state.isClosed else { return nil }
            for (key, element) in elements { state.queue.append(element, for: key) }
            defer { state.takers = [] }
            return state.takers
        }
        for taker in takers ?? [] { taker.resume() }
        return takers != nil
    }

    /// Takes up to `limit` elements, waiting for the first; empty once the mailbox is closed.
    func take(upTo limit: Int) async -> [Element] {
        while true {
            let (elements, isClosed) = state.withLock { ($0.isClosed ? [] : $0.queue.popFirst(limit), $0.isClosed) }
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
}
