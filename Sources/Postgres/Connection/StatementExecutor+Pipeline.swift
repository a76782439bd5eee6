// Statements that are sent together, without waiting for the answer of one before the next: a round trip costs as much as
// many a statement.
extension StatementExecutor {
    /// Runs statements of the open transaction in one round trip.
    func runPipeline(_ statements: [SQL]) throws(PostgresError) -> [StatementResult] {
        for statement in statements { try statement.parameters.check() }
        guard !statements.isEmpty else { return [] }
        return try runInterruptibly(isRead: false) { () throws(PostgresError) in
            if case .none = transactionState { throw PostgresError(.server(.noActiveSQLTransaction)) }
            return try runTogether(statements)
        }
    }

    /// Runs the last statements of the open transaction and commits it in one round trip. One that is all there is goes alone.
    ///
    /// Cancellation does not reach it, unless it only reads.
    func commit(after statements: [SQL]) throws(PostgresError) -> [StatementResult] {
        for statement in statements { try statement.parameters.check() }
        let options: TransactionOptions
        switch transactionState {
        case .opening(let opening): options = opening
        case .open(let open): options = open
        case .unopened(let error): throw error
        case .none, .committed: throw PostgresError(.server(.noActiveSQLTransaction))
        }
        try checkCommit()
        if options.readOnly {
            return try runInterruptibly(isRead: true) { () throws(PostgresError) in
                try runTogether(statements, committing: options)
            }
        }
        do throws(PostgresError) {
            noteSentWork()
            return try runTogether(statements, committing: options)
        } catch {
            throw note(error)
        }
    }

    /// Runs statements, after what opens the transaction if nothing has done so yet, and before its COMMIT if that is due. A single
    /// statement is a transaction by itself, and so is a pipeline that says nothing of any: the server commits it at its end.
    func runTogether(
        _ statements: [SQL],
        committing options: TransactionOptions? = nil
    ) throws(PostgresError) -> [StatementResult] {
        let keys = statements.map(\.key)
        let isAlone = options.map { isWhole(statements, keys, $0) } ?? false
        let steps = try steps(of: statements, keys)
        // What opens a transaction is prepared as any other statement: to parse and to plan it takes as long as a look-up by a key.
        let before = isAlone ? options?.limitStatements ?? [] : openingStatements
        let opening = try before.map { statement throws(PostgresError) in
            try step(of: statement, statement.key, isKept: isKept(statement))
        }
        let isWrite = options.map { !$0.readOnly } ?? false
        var all = opening + steps
        if options != nil, !isAlone { all.append(.unprepared(text: "COMMIT", ParameterList())) }
        var answer: ConnectionHandle.PipelineAnswer
        do throws(PostgresError) {
            answer = try handle.runPipeline(all, timeout: bounded(replyTimeout))
        } catch {
            if isAlone { transactionState = .unopened(error) }
            throw isWrite ? noteWrite(error) : error
        }
        if answer.results.count < opening.count { answer.failure = answer.failure?.ofOpening }
        noteOpening(answer, of: opening.count)
        if let failure = answer.failure {
            if failure.endsSession { isAbandoned = true }
            // Nothing is open that could be gone on with.
            if isAlone { transactionState = .unopened(failure) }
            let position = answer.results.count - opening.count
            _ = forgetsPlan(of: keys.indices.contains(position) ? keys[position] : nil, because: failure)
            // What the server refuses before COMMIT has not been committed; about what it did not answer, nobody knows.
            throw isWrite && (position == steps.count || failure.kind == .connectionLost) ? noteWrite(failure) : failure
        }
        let results = Array(answer.results[opening.count..<opening.count + steps.count])
        guard options != nil else { return results }
        guard isAlone || answer.results.last?.commandTag == "COMMIT" else {
            throw PostgresError(.server(.inFailedSQLTransaction))
        }
        transactionState = .committed
        if isWrite { configuration.onWrite?() }
        return results
    }

    private var openingStatements: [SQL] {
        guard case .opening(let options) = transactionState else { return [] }
        guard configuration.handsOnSettings else { return options.statements }
        return options.commands.map { .unprepared(SQL(trusted: $0)) }
    }

    /// Whether these are the whole transaction, and one statement that sees by itself what it would see inside of one. To prepare it
    /// takes a transaction.
    private func isWhole(_ statements: [SQL], _ keys: [StatementCache.Key], _ options: TransactionOptions) -> Bool {
        guard case .opening = transactionState, statements.count == 1, options.isolation != .serializable else {
            return false
        }
        // Limits are handed on in a transaction only.
        if configuration.handsOnSettings, options.hasLimits { return false }
        return !statements[0].isPrepared || isPrepared(keys[0])
    }

    private func noteOpening(_ answer: ConnectionHandle.PipelineAnswer, of count: Int) {
        guard case .opening(let options) = transactionState else { return }
        if let failure = answer.failure, answer.results.count < count {
            transactionState = .unopened(failure)
        } else {
            transactionState = .open(options)
        }
    }

    /// The statements as they are sent. To prepare one takes a round trip of its own, inside the transaction so that its
    /// failure is the transaction's.
    private func steps(
        of statements: [SQL],
        _ keys: [StatementCache.Key]
    ) throws(PostgresError) -> [ConnectionHandle.Step] {
        var steps: [ConnectionHandle.Step] = []
        for (statement, key) in zip(statements, keys) {
            // A cache that is too small would give up one while another is prepared.
            let isKept = isKept(statement) && statements.count <= configuration.statementCacheCapacity
            if isKept, !isPrepared(key) { try open() }
            steps.append(try step(of: statement, key, isKept: isKept))
        }
        return steps
    }

    private func step(
        of statement: SQL,
        _ key: StatementCache.Key,
        isKept: Bool
    ) throws(PostgresError) -> ConnectionHandle.Step {
        isKept
            ? .prepared(name: try prepare(key), statement.parameters)
            : .unprepared(text: key.text, statement.parameters)
    }
}
