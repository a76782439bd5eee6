import Synchronization

/// Holds up whoever comes until it is opened.
package final class Turnstile: Sendable {
    private let state: Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>

    package init(isOpen: Bool = false) { state = Mutex((isOpen, [])) }

    /// How many wait.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// Comes, which is noted, and waits while it is closed: who is noted waits already.
    package func pass(noting arrival: () -> Void = {}) async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                arrival()
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Lets one of those who wait through, the first of them.
    package func letOneThrough() {
        state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }?.resume()
    }

    /// Lets everybody through from now on.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Lets nobody through from now on.
    package func close() { state.withLock { $0.isOpen = false } }
}
