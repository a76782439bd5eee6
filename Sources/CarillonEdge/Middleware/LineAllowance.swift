import Synchronization

/// Lets so many lines through within a while, and counts those beyond.
final class LineAllowance: Sendable {
    /// How long a while is.
    static let window = Duration.seconds(10)

    /// What to do with a line.
    enum Verdict {
        /// Write it.
        case write
        /// Leave it out, and see to it that the number of those left out is written when the window is over.
        case omitFirst
        /// Leave it out.
        case omit
    }

    private struct State {
        var end: ContinuousClock.Instant?
        var count = 0
        var omitted = 0
    }

    private let lines: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// An allowance of so many lines.
    init(lines: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.lines = lines
        self.now = now
    }

    /// What to do with the next line.
    func take() -> Verdict {
        let now = self.now()
        return state.withLock { state in
            if state.end.map({ $0 <= now }) ?? true {
                state.end = now + Self.window
                state.count = 0
            }
            state.count += 1
            if state.count <= lines { return .write }
            state.omitted += 1
            return state.omitted == 1 ? .omitFirst : .omit
        }
    }

    /// How many lines were left out since this was asked last.
    func takeOmitted() -> Int {
        state.withLock { state in
            defer { state.omitted = 0 }
            return state.omitted
        }
    }
}
