import UnixSignals

/// Runs some work that Ctrl-C and SIGTERM cancel, so that servers and files do not stay behind.
func cancelledByInterrupts(_ work: @Sendable @escaping () async throws -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await work() }
        group.addTask {
            for await _ in signals { throw CancellationError() }
        }
        defer { group.cancelAll() }
        try await group.next()
    }
}
