import Synchronization

/// Lets so many lines through within a while, and counts those beyond.
package final class LineAllowance: Sendable {
    package enum Verdict: Sendable {
        case write
        /// Leave it out, and see to it that the number of those left out is written when the window is over.
        case omitFirst
        case omit
    }

    private struct State {
        var end: ContinuousClock.Instant?
        var count = 0
        var omitted = 0
    }

    /// How long a while is.
    package let window: Duration
    private let lines: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    package init(
        lines: Int,
        within window: Duration,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.lines = lines
        self.window = window
        self.now = now
    }

    /// What to do with the next line.
    package func take() -> Verdict {
        let now = self.now()
        return state.withLock { state in
            if state.end.map({ $0 <= now }) ?? true {
                state.end = now + window
                state.count = 0
            }
            state.count += 1
            if state.count <= lines { return .write }
            state.omitted += 1
            return state.omitted == 1 ? .omitFirst : .omit
        }
    }

    /// Whether it is like a new one: its window is over, and nothing of it is untold.
    package var isUnused: Bool {
        let now = self.now()
        return state.withLock { state in state.omitted == 0 && state.end.map { $0 <= now } ?? true }
    }

    /// How many lines were left out since this was asked last.
    package func takeOmitted() -> Int {
        state.withLock { state in
            defer { state.omitted = 0 }
            return state.omitted
        }
    }
}
