import Synchronization

/// Holds up whoever waits until it is opened, or until so many have knocked.
final class Gate: Sendable {
    private struct State {
        var knocksLeft: Int
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(openingAfter knocks: Int = 1) { state = Mutex(State(knocksLeft: knocks)) }

    /// Opens it, or brings it one step nearer to it.
    func knock() {
        let waiters = state.withLock { state in
            state.knocksLeft -= 1
            guard state.knocksLeft <= 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if state.knocksLeft > 0 { state.waiters.append(continuation) }
                return state.knocksLeft <= 0
            }
            if isOpen { continuation.resume() }
        }
    }
}
