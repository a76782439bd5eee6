import Postgres

extension PostgresPool {
    /// Any number, as long as nobody else takes it.
    private static let lock: Int32 = 0x6361_7269

    /// Runs `body` in a transaction unless another replica is at the same task; `nil` then. Such locks are the database's, and
    /// tasks a schema's.
    ///
    /// It gives up soon where it has to wait for others: what is tidied up can wait, and what waits for a lock holds up
    /// everybody who comes behind it.
    func withTaskLock<Value: Sendable>(
        on task: String,
        lockTimeout: Duration = .milliseconds(300),
        statementTimeout: Duration? = nil,
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value? {
        let options = TransactionOptions(retries: 3, statementTimeout: statementTimeout, lockTimeout: lockTimeout)
        return try await withTransaction(options) { session in
            let isOurs = try session.queryFirst(
                """
                SELECT pg_try_advisory_xact_lock(
                    \(Self.lock), hashtext(coalesce(nullif(current_schema(), 'public') || ' ', '') || \(task))),
                    set_config('carillon.sweep', 'on', true)
                """
            ) { row in try row.decode(0, as: Bool.self) }
            return isOurs == true ? try body(session) : nil
        }
    }

    /// Goes on with a task step by step, each with the lock, until a step finds no full batch or somebody else is at it.
    func repeatingWithTaskLock(
        on task: String,
        batchSize: Int,
        _ step: @Sendable (borrowing PostgresSession) throws -> Int
    ) async throws {
        var count = batchSize
        while count == batchSize { count = try await withTaskLock(on: task, step) ?? 0 }
    }
}
