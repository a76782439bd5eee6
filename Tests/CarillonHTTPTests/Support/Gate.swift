import Synchronization

/// Lets nobody through until it is opened, and knows who has come.
final class Gate<Visitor: Sendable & Equatable>: Sendable {
    private struct State {
        var visitors: [Visitor] = []
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// How many have come.
    func count(of visitor: Visitor) -> Int { state.withLock { $0.visitors.count { $0 == visitor } } }

    /// Comes, and waits.
    func pass(_ visitor: Visitor) async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.visitors.append(visitor)
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Lets all through.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
