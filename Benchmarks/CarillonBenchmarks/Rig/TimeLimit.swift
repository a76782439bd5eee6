/// Runs some work, which is cancelled when the time is over.
/// - Throws: What `work` throws, and ``BenchmarkFailure`` when it takes too long.
func within<Value: Sendable>(
    _ limit: Duration,
    _ work: @Sendable @escaping () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() ?? nil else {
            throw BenchmarkFailure("nothing came within \(limit)")
        }
        return value
    }
}
