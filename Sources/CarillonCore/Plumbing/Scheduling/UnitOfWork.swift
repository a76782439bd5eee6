import Synchronization

/// The work of the stores on behalf of one caller, however many calls it takes: by when it has to end, and whether any of it
/// may have been written.
///
/// It goes with the task: whoever answers a caller begins one, and the stores' calls find it as ``current``.
package final class UnitOfWork: Sendable {
    /// The one that the task works for.
    @TaskLocal package static var current: UnitOfWork?
    /// Whether the work of the task goes before others' where both wait for one of a few places, such as a connection to
    /// the database. For what is small and rare: everybody else waits for it.
    @TaskLocal package static var isUrgent = false

    private struct State {
        var deadline: ContinuousClock.Instant?
        var mayHaveWritten = false
    }

    private let limit: Duration
    private let state: Mutex<State>

    package init(within limit: Duration) {
        self.limit = limit
        state = Mutex(State(deadline: .now + limit))
    }

    /// By when it has to end; `nil` when it may take as long as it likes.
    package var deadline: ContinuousClock.Instant? { state.withLock(\.deadline) }

    /// By when it would have to end if it had no more than so much time; `nil` when it may take as long as it likes.
    package func deadline(within most: Duration) -> ContinuousClock.Instant? {
        deadline.map { min($0, $0 - limit + most) }
    }

    /// Whether something was written, or may have been because the answer was lost.
    package var mayHaveWritten: Bool { state.withLock(\.mayHaveWritten) }

    /// Notes that something was written, or may have been.
    package func noteWrite() {
        state.withLock { $0.mayHaveWritten = true }
    }

    /// Gives it its whole time once more: what it waited for until now was the caller, somebody else's answer, or its turn.
    package func restart() {
        state.withLock { state in
            if state.deadline != nil { state.deadline = .now + limit }
        }
    }

    /// Lets it take as long as it likes, for work of any size.
    package func liftDeadline() {
        state.withLock { $0.deadline = nil }
    }

    /// Begins what is of many: it ends by itself, in a time that is nobody's, whatever becomes of whoever begins it.
    @discardableResult
    package static func beginShared(
        on executor: (any TaskExecutor)? = nil,
        _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        $current.withValue(nil) { Task(executorPreference: executor) { await work() } }
    }

    /// Runs `work` as a unit.
    ///
    /// - Throws: What `work` throws; ``OutcomeUnknown`` in place of an error that says that nothing was written, when an
    ///   earlier part was.
    package static func run<Result>(
        within limit: Duration,
        _ work: () async throws -> Result
    ) async throws -> Result {
        let unit = UnitOfWork(within: limit)
        do {
            return try await $current.withValue(unit, operation: work)
        } catch  where unit.mayHaveWritten && error.isTransient && !error.isOutcomeUnknown {
            throw OutcomeUnknown(cause: error)
        }
    }
}
