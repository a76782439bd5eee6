/// Runs statements on one connection, on that connection's thread.
///
/// It remembers what a plain handle does not: which statements are prepared, whether the caller is cancelled, and whether
/// the connection can still be trusted.
final class StatementExecutor {
    let handle: ConnectionHandle
    let canceller: StatementCanceller
    let configuration: PostgresConfiguration
    private let requiresPrimary: Bool
    private var statements: StatementCache

    /// Whether the connection has failed in a way after which its state is unknown, or its caller wants nobody else to have it.
    var isAbandoned = false
    /// Whether anything of the caller's has been sent since ``beginLease()``.
    private(set) var hasSentWork = false
    var transactionState = TransactionState.none
    /// The failure because of which the open transaction can only be rolled back.
    var transactionFailure: PostgresError?

    init(handle: consuming ConnectionHandle, configuration: PostgresConfiguration, canceller: StatementCanceller) {
        canceller.attach(handle.makeCancelHandle())
        self.handle = handle
        self.canceller = canceller
        self.configuration = configuration
        requiresPrimary = configuration.connectionInfo.requiresPrimary
        statements = StatementCache(
            capacity: configuration.statementCacheCapacity,
            mark: .random(in: .min ... .max)
        )
        replyTimeout = configuration.replyTimeout(forStatementTimeout: configuration.statementTimeout)
    }

    /// How long to wait for an answer when the caller has no deadline; a transaction with a statement timeout of its own
    /// changes it.
    var replyTimeout: Duration?
    /// By when the caller has to be answered.
    private(set) var deadline: ContinuousClock.Instant?

    var serverProcessID: Int32 { handle.serverProcessID }

    var isBroken: Bool { isAbandoned || handle.isBroken }

    /// Readies the connection for the next caller; `false` when the server has hung up in the meantime.
    func beginLease(until deadline: ContinuousClock.Instant?) -> Bool {
        hasSentWork = false
        self.deadline = deadline
        forgetTransaction()
        return !isBroken && !handle.hasHungUp()
    }

    /// Ends a transaction that the caller left open; answers whether the connection may serve another caller.
    func endLease() -> Bool {
        if !isBroken, !handle.isIdle { rollBack() }
        return !isBroken && handle.isIdle && !statements.isWorn
    }
}

extension StatementExecutor {
    /// Runs one statement of the caller's.
    func run(_ sql: SQL) throws(PostgresError) -> StatementResult {
        try sql.parameters.check()
        return try runInterruptibly(isRead: sql.isSelect) { () throws(PostgresError) in
            if case .opening = transactionState { return try runTogether([sql])[0] }
            guard isKept(sql) else {
                return try untilDeadline(replyTimeout) { timeout throws(PostgresError) in
                    try handle.run(.unprepared(text: sql.text, sql.parameters), timeout: timeout)
                }
            }
            return try runPrepared(sql)
        }
    }

    /// Runs several statements of the caller's. The server's timeout holds for each of them, so that there is none here but
    /// the caller's deadline.
    func run(script: String) throws(PostgresError) {
        _ = try runInterruptibly(isRead: false) { () throws(PostgresError) in
            try open()
            return try untilDeadline(nil) { timeout throws(PostgresError) in
                try handle.run(script: script, timeout: timeout)
            }
        }
    }

    func runInterruptibly<Answer>(
        isRead: Bool,
        _ body: () throws(PostgresError) -> Answer
    ) throws(PostgresError) -> Answer {
        guard !isBroken else { throw PostgresError(.connectionLost, reason: "it broke earlier") }
        try checkDeadline()
        try canceller.beginStatement()
        noteSentWork()
        // Outside of a transaction each statement commits itself.
        var isWrite = !isRead && handle.isIdle
        do throws(PostgresError) {
            switch transactionState {
            case .none, .open: break
            case .opening: isWrite = false
            case .unopened(let error): throw error
            case .committed: throw PostgresError(.server(.noActiveSQLTransaction))
            }
            let answer = try body()
            endStatement()
            if isWrite { configuration.onWrite?() }
            return answer
        } catch {
            let error = note(isWrite ? noteWrite(error) : error)
            endStatement()
            throw error
        }
    }

    /// Waits for an answer until the caller's deadline, and has the statement interrupted then. Who opens a transaction tells the server
    /// how much time is left; of a statement outside of one it would know nothing, and work on for nobody.
    private func untilDeadline(
        _ timeout: Duration?,
        _ run: (_ timeout: Duration?) throws(PostgresError) -> StatementResult
    ) throws(PostgresError) -> StatementResult {
        guard let deadline, case .none = transactionState else { return try run(bounded(timeout)) }
        let left = max(.zero, deadline - .now)
        do throws(PostgresError) {
            return try run(timeout.map { min($0, left) } ?? left)
        } catch {
            guard error.kind == .connectionLost, !handle.isBroken, deadline <= .now else { throw error }
            canceller.interrupt()
            return try handle.lastResult(until: .now + configuration.deadlineGrace)
        }
    }

    /// What became of something that was to be written, when it failed.
    func noteWrite(_ error: PostgresError) -> PostgresError {
        let error = configuration.handsOnSettings ? error.ofWriteElsewhere : error.ofWrite
        if error.isOutcomeUnknown { configuration.onWrite?() }
        return error
    }

    /// Refuses to begin what could not end in time.
    func checkDeadline() throws(PostgresError) {
        if let deadline, deadline <= .now { throw PostgresError(.deadlineExceeded) }
    }

    /// How long to wait for an answer: no longer than the caller can, and a moment.
    func bounded(_ timeout: Duration?) -> Duration? {
        guard let deadline else { return timeout }
        let left = max(.zero, deadline - .now) + configuration.deadlineGrace
        return timeout.map { min($0, left) } ?? left
    }

    /// Waits while a request to interrupt the statement is on its way: no longer than the caller can, and not at all where the connection
    /// is given up anyway.
    private func endStatement() {
        let isLate = deadline.map { $0 <= .now } ?? false
        let limit: Duration = isBroken ? .zero : isLate ? configuration.deadlineGrace : .seconds(5)
        if !canceller.endStatement(waitingAtMost: limit) { isAbandoned = true }
    }

    func noteSentWork() { hasSentWork = true }

    /// Draws the consequences of a failure for the connection.
    func note(_ error: PostgresError) -> PostgresError {
        switch error.kind {
        case .connectionLost:
            isAbandoned = true
        case .server(.readOnlySQLTransaction) where requiresPrimary && !transactionState.isReadOnly:
            // The primary has become a standby under this connection; another connection finds the new primary.
            isAbandoned = true
        case .server(.queryCanceled) where canceller.isCancelled:
            return error.reclassified(as: .cancelled)
        default:
            break
        }
        if handle.isInFailedTransaction, transactionFailure == nil { transactionFailure = error }
        return error
    }
}

extension StatementExecutor {
    private func runPrepared(_ sql: SQL) throws(PostgresError) -> StatementResult {
        let key = sql.key
        do throws(PostgresError) {
            return try runPrepared(key, sql.parameters)
        } catch {
            guard forgetsPlan(of: key, because: error), handle.isIdle else { throw error }
            return try runPrepared(key, sql.parameters)
        }
    }

    /// Gives up what a changed table has made unusable, or DISCARD has forgotten; answers whether that was the matter, so
    /// that nothing was executed. What opens or ends a transaction needs no table.
    func forgetsPlan(of key: StatementCache.Key?, because error: PostgresError) -> Bool {
        switch error.sqlState {
        case .featureNotSupported?: if let key { statements.remove(key) }
        case .invalidSQLStatementName?: statements.forgetAll()
        default: return false
        }
        return true
    }

    /// Whether a statement is prepared under a name, for its next time.
    func isKept(_ sql: SQL) -> Bool { sql.isPrepared && configuration.preparesStatements }

    func isPrepared(_ key: StatementCache.Key) -> Bool { statements.name(for: key) != nil }

    private func runPrepared(
        _ key: StatementCache.Key,
        _ parameters: ParameterList
    ) throws(PostgresError) -> StatementResult {
        let name = try prepare(key)
        return try untilDeadline(replyTimeout) { timeout throws(PostgresError) in
            try handle.run(.prepared(name: name, parameters), timeout: timeout)
        }
    }

    func prepare(_ key: StatementCache.Key) throws(PostgresError) -> String {
        if let name = statements.name(for: key) { return name }
        let name = statements.makeName()
        _ = try untilDeadline(replyTimeout) { timeout throws(PostgresError) in
            try handle.prepare(name, text: key.text, types: key.types, timeout: timeout)
        }
        statements.insert(key, name: name)
        return name
    }
}

extension SQL {
    var key: StatementCache.Key { StatementCache.Key(text: text, types: parameters.types) }
}
