extension PostgresConnection {
    /// Connects at once.
    nonisolated func open() async throws(PostgresError) {
        let result = await withCheckedContinuation { continuation in
            open(after: .zero) { continuation.resume(returning: $0) }
        }
        try result.get()
    }

    /// Listens until ``StatementCanceller/cancel()``; blocks this connection's thread all the while.
    ///
    /// - Parameters:
    ///   - channels: The names to LISTEN on.
    ///   - onStart: Called when listening has begun.
    ///   - onNotification: Called with each notification.
    /// - Returns: Why it ended, unless it was cancelled.
    func listen(
        on channels: [String],
        onStart: @Sendable () -> Void,
        onNotification: @Sendable (PostgresNotification) -> Void
    ) -> PostgresError? {
        guard let executor else { return PostgresError(.connectionLost) }
        do throws(PostgresError) {
            for channel in channels {
                _ = try executor.run(.unprepared("LISTEN \(identifier: channel)"))
            }
            onStart()
            while !canceller.isCancelled {
                for notification in try executor.handle.notifications(waitingFor: .milliseconds(200)) {
                    onNotification(notification)
                }
            }
            return nil
        } catch {
            return canceller.isCancelled ? nil : error
        }
    }
}
