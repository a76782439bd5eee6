/// The work was cancelled because it took longer than it may; nothing of it was written.
package struct DeadlineExceeded: TransientError, CustomStringConvertible {
    package init() {}

    package var isTransient: Bool { true }
    /// Names nothing of the caller's.
    package var description: String { "it took longer than it may" }
}

/// Runs `work` as a ``UnitOfWork`` of so much time, at whose end the stores give it up by themselves; cancels it when it has
/// not ended a second later.
///
/// - Throws: ``DeadlineExceeded`` then, and otherwise what `work` throws. What ended too late is answered all the same, and
///   so is that nobody knows how it ended.
package func withDeadline<Result: Sendable>(
    _ limit: Duration,
    margin: Duration = .seconds(1),
    _ work: @Sendable @escaping () async throws -> Result
) async throws -> Result {
    try await UnitOfWork.run(within: limit) {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try? await Task.sleep(for: limit + margin)
                return nil
            }
            defer { group.cancelAll() }
            if let first = try await group.next(), let result = first { return result }
            group.cancelAll()
            do {
                guard let last = try await group.next(), let result = last else { throw DeadlineExceeded() }
                return result
            } catch  where !error.isOutcomeUnknown {
                throw DeadlineExceeded()
            }
        }
    }
}
