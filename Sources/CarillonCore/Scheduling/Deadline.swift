/// The work was cancelled because it took longer than it may.
package struct DeadlineExceeded: TransientError, CustomStringConvertible {
    /// Trying again later can help.
    package var isTransient: Bool { true }
    /// Names nothing of the caller's.
    package var description: String { "it took longer than it may" }
}

/// Runs `work` and cancels it when it has not ended after `limit`.
///
/// - Throws: ``DeadlineExceeded`` then, and otherwise what `work` throws.
func withDeadline<Result: Sendable>(
    _ limit: Duration,
    _ work: @Sendable @escaping () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try? await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else { throw DeadlineExceeded() }
        return result
    }
}
