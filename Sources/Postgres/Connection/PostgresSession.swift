/// A connection in the hands of one caller, for as long as a closure runs.
///
/// All calls are synchronous: the closure runs on the connection's own thread, so it must not wait for anything but
/// PostgreSQL. Results are buffered by the client, so large tables are read in pages.
public struct PostgresSession: ~Copyable {
    private let executor: StatementExecutor

    init(executor: StatementExecutor) {
        self.executor = executor
    }

    /// Runs a statement for its effect.
    ///
    /// - Returns: How many rows it inserted, updated, deleted or selected.
    /// - Throws: `server` with the reason, `encoding`, `connectionLost` or `cancelled`.
    @discardableResult
    public func execute(_ sql: SQL) throws(PostgresError) -> Int {
        try executor.run(sql).affectedRows
    }

    /// Runs a statement and decodes all its rows, in their order.
    ///
    /// - Throws: As ``execute(_:)``, and what `decode` throws.
    public func query<Value>(_ sql: SQL, _ decode: (borrowing Row) throws -> Value) throws -> [Value] {
        try executor.run(sql).map(decode)
    }

    /// Runs a statement and decodes its first row; nil when there is no row.
    ///
    /// - Throws: As ``execute(_:)``, and what `decode` throws.
    public func queryFirst<Value>(_ sql: SQL, _ decode: (borrowing Row) throws -> Value) throws -> Value? {
        try executor.run(sql).first(decode)
    }

    /// Runs a statement and decodes the first field of its first row; nil when there is no row.
    public func first<Value: PostgresDecodable>(_ sql: SQL, as type: Value.Type = Value.self) throws -> Value? {
        try queryFirst(sql) { row in try row.decode(0, as: type) }
    }

    /// Runs a statement and visits its rows, in their order, without collecting anything.
    ///
    /// - Throws: As ``execute(_:)``, and what `body` throws, which ends the visit.
    public func forEach(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
        try executor.run(sql).forEach(body)
    }

    /// Runs statements of a transaction one after the other in one round trip: none waits for the answer of the one before
    /// it. The first failure ends it, as it does the transaction.
    ///
    /// - Returns: What each of them answered.
    /// - Throws: As ``execute(_:)``, for the first that fails; `server` outside a transaction.
    @discardableResult
    public func pipeline(_ statements: [SQL]) throws(PostgresError) -> [StatementResult] {
        try executor.runPipeline(statements)
    }

    /// Runs the last statements of a transaction and commits it, in one round trip. Nothing can be run in it afterwards, and
    /// what its closure throws then undoes nothing. Where one statement is all of the transaction, it is sent without BEGIN and COMMIT.
    ///
    /// Cancellation does not reach it, unless the transaction only reads; a deadline does.
    ///
    /// - Returns: What each of them answered.
    /// - Throws: As ``pipeline(_:)``, and what COMMIT fails with.
    @discardableResult
    public func commit(after statements: [SQL] = []) throws(PostgresError) -> [StatementResult] {
        try executor.commit(after: statements)
    }

    /// Runs the statements of a text one after the other, as a migration does; the first failure ends it.
    ///
    /// Outside a transaction the whole text is one, unless it says otherwise itself.
    ///
    /// - Parameter sql: The statements, separated by semicolons, without parameters.
    /// - Throws: As ``execute(_:)``; `encoding` when there are parameters.
    public func script(_ sql: SQL) throws(PostgresError) {
        guard sql.parameters.count == 0 else {
            throw PostgresError(.encoding, reason: "a script takes no parameters")
        }
        try executor.run(script: sql.text)
    }

    /// Runs a transaction on this connection, for work that has statements outside of one as well: it is committed when `body` returns, and
    /// rolled back when it throws. It is run once, whatever the options say of retries.
    ///
    /// - Throws: What `body` throws, and what COMMIT fails with; `server` inside a transaction.
    @discardableResult
    public func withTransaction<Value>(
        _ options: TransactionOptions = TransactionOptions(),
        _ body: (borrowing PostgresSession) throws -> Value
    ) throws -> Value {
        try executor.transactionOfItsOwn(options, body)
    }

    /// Ends the use of this connection, which is closed then: what it keeps, such as settings and locks, is for no other caller.
    public func retire() {
        executor.isAbandoned = true
    }
}
