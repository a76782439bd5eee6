import CarillonTesting
import Synchronization

/// A time that goes on to wherever somebody sleeps to, with what happens on the way.
final class PassingTime: Sendable {
    private struct State {
        var now = ContinuousClock.now
        var events: [(at: ContinuousClock.Instant, action: @Sendable () -> Void)] = []
        var isOver = false
    }

    let start: ContinuousClock.Instant
    private let end: ContinuousClock.Instant
    private let state = Mutex(State())

    init(seconds: Double) {
        start = state.withLock(\.now)
        end = start + .seconds(seconds)
    }

    var now: ContinuousClock.Instant { state.withLock(\.now) }
    var isOver: Bool { state.withLock(\.isOver) }

    func at(_ second: Double, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.events.append((start + .seconds(second), action))
            state.events.sort { $0.at < $1.at }
        }
    }

    func sleep(until moment: ContinuousClock.Instant) async {
        while !Task.isCancelled {
            let event = state.withLock { state -> (@Sendable () -> Void)? in
                guard let first = state.events.first, first.at <= min(moment, end) else {
                    state.now = max(state.now, min(moment, end))
                    return nil
                }
                state.now = max(state.now, first.at)
                return state.events.removeFirst().action
            }
            guard let event else { break }
            event()
        }
        guard end < moment, !Task.isCancelled else { return }
        state.withLock { $0.isOver = true }
        await waitUntilCancelled()
    }
}
