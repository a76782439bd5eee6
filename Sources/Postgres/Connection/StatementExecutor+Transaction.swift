// Statements that begin, divide or end a transaction. Cancellation does not reach them: one that hit a COMMIT would leave
// the caller with an error and the database with the rows.
extension StatementExecutor {
    /// Runs `body` inside a transaction: commits what it did, or nothing.
    ///
    /// - Throws: What `body` throws, and what COMMIT fails with.
    func transaction<Value>(
        _ options: TransactionOptions,
        _ body: (borrowing PostgresSession) throws -> Value
    ) throws -> Value {
        try begin(options)
        let value: Value
        do {
            value = try body(PostgresSession(executor: self))
        } catch {
            rollBack()
            throw error
        }
        try commit(options)
        return value
    }

    /// Runs a transaction between statements that are in none.
    func transactionOfItsOwn<Value>(
        _ options: TransactionOptions,
        _ body: (borrowing PostgresSession) throws -> Value
    ) throws -> Value {
        guard case .none = transactionState else { throw PostgresError(.server(.activeSQLTransaction)) }
        defer { forgetTransaction() }
        return try transaction(options, body)
    }

    /// Readies the connection for statements outside of a transaction, or for the next one.
    func forgetTransaction() {
        transactionState = .none
        transactionFailure = nil
        replyTimeout = configuration.replyTimeout(forStatementTimeout: configuration.statementTimeout)
    }

    /// Prepares the opening, which is sent with the first statement.
    private func begin(_ options: TransactionOptions) throws(PostgresError) {
        guard !isBroken else { throw PostgresError(.connectionLost, reason: "it broke earlier") }
        try checkDeadline()
        let options = bounded(options)
        if let statementTimeout = options.statementTimeout {
            replyTimeout = configuration.replyTimeout(forStatementTimeout: statementTimeout)
        }
        transactionState = .opening(options)
    }

    /// Opens the transaction if nothing has done so yet.
    func open() throws(PostgresError) {
        guard case .opening(let options) = transactionState else { return }
        do throws(PostgresError) {
            let commands = options.commands
            let scripts = configuration.handsOnSettings ? commands : [commands.joined(separator: "; ")]
            for script in scripts { _ = try handle.run(script: script, timeout: bounded(replyTimeout)) }
            transactionState = .open(options)
        } catch {
            transactionState = .unopened(error.ofOpening)
            throw error.ofOpening
        }
    }

    /// The same options with a statement timeout that ends with the caller's deadline: the server cancels the statement then,
    /// and the connection stays.
    private func bounded(_ options: TransactionOptions) -> TransactionOptions {
        guard let deadline else { return options }
        var options = options
        let (limit, left) = (options.statementTimeout ?? configuration.statementTimeout, deadline - .now)
        if limit <= .zero || left < limit { options.statementTimeout = max(.milliseconds(1), left) }
        return options
    }

    private func commit(_ options: TransactionOptions) throws(PostgresError) {
        if case .committed = transactionState { return }
        do throws(PostgresError) {
            try checkCommit()
            // Without a statement there is nothing to commit.
            if case .opening = transactionState { return }
            try sendCommit(isWrite: !options.readOnly)
        } catch {
            rollBack()
            throw error
        }
    }

    /// Refuses a COMMIT that the caller does not want any more, or that would not be one.
    func checkCommit() throws(PostgresError) {
        try checkDeadline()
        if canceller.isCancelled { throw PostgresError(.cancelled) }
        if case .unopened(let error) = transactionState { throw error }
        // COMMIT of a failed transaction succeeds, and means ROLLBACK.
        if handle.isInFailedTransaction {
            throw transactionFailure ?? PostgresError(.server(.inFailedSQLTransaction))
        }
        guard !isBroken else { throw PostgresError(.connectionLost, reason: "it broke earlier") }
        if case .open = transactionState, !handle.isInTransaction {
            throw PostgresError(.server(.noActiveSQLTransaction))
        }
    }

    private func sendCommit(isWrite: Bool) throws(PostgresError) {
        let answer: String
        do throws(PostgresError) {
            answer = try control("COMMIT")
        } catch {
            throw isWrite ? noteWrite(error) : error
        }
        guard answer == "COMMIT" else { throw PostgresError(.server(.inFailedSQLTransaction)) }
        if isWrite { configuration.onWrite?() }
    }

    /// Undoes the open transaction; a connection on which that fails is given up.
    func rollBack() {
        guard !isBroken, !handle.isIdle else { return }
        do throws(PostgresError) {
            try control("ROLLBACK")
        } catch {
            isAbandoned = true
        }
    }

    @discardableResult
    private func control(_ statement: String) throws(PostgresError) -> String {
        guard !isBroken else { throw PostgresError(.connectionLost, reason: "it broke earlier") }
        do throws(PostgresError) {
            return try handle.run(script: statement, timeout: bounded(replyTimeout)).commandTag
        } catch {
            throw note(error)
        }
    }
}

enum TransactionState {
    /// There is none: each statement commits itself.
    case none
    /// What opens it is sent with its first statement.
    case opening(TransactionOptions)
    /// It is open, or failed.
    case open(TransactionOptions)
    /// It could not be opened.
    case unopened(PostgresError)
    /// It is committed, and its caller has not returned yet.
    case committed

    var isReadOnly: Bool {
        switch self {
        case .opening(let options), .open(let options): options.readOnly
        case .none, .unopened, .committed: false
        }
    }
}
