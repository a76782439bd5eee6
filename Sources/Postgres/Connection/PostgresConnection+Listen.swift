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
    /// The alarm rings then; without one, that is looked for from time to time.
    ///
    /// - Returns: Why it ended, unless it was cancelled.
    func listen(
        on channels: [String],
        until alarm: SocketAlarm?,
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
                for notification in try executor.handle.notifications(until: alarm) {
                    onNotification(notification)
                }
            }
            return nil
        } catch {
            return canceller.isCancelled ? nil : error
        }
    }
}
