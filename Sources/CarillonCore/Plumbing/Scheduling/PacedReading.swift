import Synchronization

/// Reads for all who ask, one reading at a time and so many a second at most; each is answered by one that began after it asked.
///
/// Whoever asks while a reading is under way that fails has its error: after one that took all the time there is, nobody waits as long once
/// more.
package final class PacedReading<Question: Sendable, Answer: Sendable>: Sendable {
    private typealias Reading = Task<Answer, any Error>

    private struct State {
        /// What the next reading will ask for, and that reading.
        var question: Question
        var next: Reading?
        /// The one that was begun last.
        var last: Reading?
        var isReading = false
        var earliest = ContinuousClock.now
    }

    private let interval: Duration
    private let nothing: Question
    private let read: @Sendable (Question) async throws -> Answer
    private let state: Mutex<State>

    /// Readings that begin at least `interval` apart; `nothing` is what each asks for before anybody has added to it.
    package init(
        every interval: Duration,
        asking nothing: Question,
        _ read: @escaping @Sendable (Question) async throws -> Answer
    ) {
        self.interval = interval
        self.nothing = nothing
        self.read = read
        state = Mutex(State(question: nothing))
    }

    /// Asks together with others.
    ///
    /// - Parameter add: Adds to what the next reading asks for; `false` where that is too much already.
    /// - Returns: What a reading answers that begins after this was called; `nil` when nothing was added.
    /// - Throws: What that reading throws.
    package func answer(adding add: (inout Question) -> Bool) async throws -> Answer? {
        let reading: Reading? = state.withLock { state in
            guard add(&state.question) else { return nil }
            if let next = state.next { return next }
            // Unstructured on purpose: it is shared, and must not end with whoever began it.
            let next = Reading { [last = state.isReading ? state.last : nil] in try await self.begin(after: last) }
            state.next = next
            return next
        }
        return try await reading?.value
    }

    private func begin(after last: Reading?) async throws -> Answer {
        do {
            _ = try await last?.value
        } catch {
            state.withLock { ($0.question, $0.next) = (nothing, nil) }
            throw error
        }
        try? await Task.sleep(until: state.withLock(\.earliest))
        let question = state.withLock { state in
            defer { state.question = nothing }
            (state.last, state.next) = (state.next, nil)
            state.earliest = .now + interval
            state.isReading = true
            return state.question
        }
        defer { state.withLock { $0.isReading = false } }
        return try await read(question)
    }
}

extension PacedReading where Question == Void, Answer == Void {
    /// Readings of all there is, which begin at least `interval` apart.
    package convenience init(every interval: Duration, _ read: @escaping @Sendable () async throws -> Void) {
        self.init(every: interval, asking: ()) { _ in try await read() }
    }

    /// Returns when a reading has ended that began after this was called.
    ///
    /// - Throws: What that reading throws.
    package func finish() async throws { _ = try await answer { _ in true } }
}
