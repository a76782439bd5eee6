package import CarillonCore
package import Postgres

extension PostgresConfiguration {
    /// Has each call obey the ``CarillonCore/UnitOfWork`` that it is part of, and tell it of what it wrote; and lets those go first
    /// that have ``CarillonCore/UnitOfWork/isUrgent``.
    ///
    /// A unit that has to end may take `limit` at the most, as far as the database goes; `nil` leaves it to the unit. `activity` is told
    /// of what is written, unless that is routine.
    package mutating func joinUnitsOfWork(callLimit limit: Duration? = nil, noting activity: Activity? = nil) {
        deadline = {
            guard let unit = UnitOfWork.current else { return nil }
            return limit.map(unit.deadline(within:)) ?? unit.deadline
        }
        onWrite = {
            UnitOfWork.current?.noteWrite()
            if !Activity.isRoutine { activity?.note() }
        }
        hasPrecedence = { UnitOfWork.isUrgent }
    }

    /// Has statements planned once for each connection, to find rows by index.
    ///
    /// A plan is made for the sizes that tables have at that time, as far as the planner has heard of them. It would read a
    /// small table as a whole, and keep the plan while a queue fills; and planning for each execution costs more than most
    /// statements do. So statements leave no choice, see `docs/decisions/0009`: `LATERAL` with a `LIMIT` says which
    /// table is driven from, and the keys that are compared say by which index.
    ///
    /// Where the database hands statements on to others, some plans for all values cannot be made, so that it chooses, see
    /// `docs/decisions/0042`.
    package mutating func planForStores() {
        sessionSettings.merge(SQL.plannedOnce) { _, new in new }
        distributedSettings = DistributedSettings(Self.handedOn.merging(["plan_cache_mode": "auto"]) { $1 })
    }

    /// Has the limits of a transaction handed on, where statements are.
    package mutating func handOnLimits() {
        distributedSettings = DistributedSettings(Self.handedOn)
    }

    // Triggers of ours write to tables of their own schema alone, which are all in one place.
    private static let handedOn = ["citus.propagate_set_commands": "local", "citus.enable_unsafe_triggers": "on"]

    /// What whoever is handed statements on needs besides, as a role's settings: a session's own are not handed on.
    package static let settingsOfRole =
        SQL.plannedOnce.merging(["plan_cache_mode": "auto", "TimeZone": "UTC"]) { $1 }
}

extension LentConnection: StoreThread {}

extension PostgresPool {
    /// Runs a short write. Locks are taken in one order everywhere; should two writes still meet head-on, one runs again. It
    /// waits for a lock as long as `lockWait`, if that is not as long as a statement may take.
    func write<Value: Sendable>(
        lockWait: Duration? = nil,
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        try await withTransaction(TransactionOptions(retries: 5, lockTimeout: lockWait), body)
    }

    /// Runs a short write of one statement; answers how many rows it changed.
    @discardableResult
    func write(_ sql: SQL, lockWait: Duration? = nil) async throws -> Int {
        try await write(lockWait: lockWait) { session in try session.execute(sql) }
    }

    /// Runs several reads of one moment.
    func snapshot<Value: Sendable>(
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        try await withTransaction(TransactionOptions(isolation: .repeatableRead, readOnly: true), body)
    }

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

    /// Goes on with a task step by step, each with the lock, until a step finds no full batch, somebody else is at it, or it is time.
    func repeatingWithTaskLock(
        on task: String,
        batchSize: Int,
        until end: ContinuousClock.Instant? = nil,
        _ step: @Sendable (borrowing PostgresSession) throws -> Int
    ) async throws {
        var count = batchSize
        while count == batchSize, end.map({ .now < $0 }) ?? true { count = try await withTaskLock(on: task, step) ?? 0 }
    }
}

/// Statements that look rows of a queue up by their keys, planned anew for the size that it has now.
///
/// A queue is empty most of the time. A plan that was made then, and kept, reads it from one end to the other once it has
/// filled: seconds for a batch of outcomes with 30,000 groups waiting, measured.
extension PostgresSession {
    /// Changes rows of a queue; answers how many.
    func executeOnQueue(_ sql: SQL) throws -> Int {
        try execute(.onQueue(sql))
    }

    /// Changes or reads rows of a queue.
    func queryQueue<Value>(_ sql: SQL, _ decode: (borrowing Row) throws -> Value) throws -> [Value] {
        try query(.onQueue(sql), decode)
    }
}

extension PostgresSession {
    /// Has the transaction's next statements walk along an index where they ask for its order, and stop where they have enough: of
    /// a table that nobody has analysed yet the planner expects a handful of rows, and would read all of a network, and sort them.
    ///
    /// Plans are kept by the connection; so other statements that follow want this taken back.
    func walkAlongIndexes(only: Bool = true) throws {
        try execute(.walkingAlongIndexes(only: only))
    }
}

extension SQL {
    /// The same statement, to be run on a queue.
    static func onQueue(_ sql: SQL) -> SQL { .unprepared(sql) }

    /// Whether a row of a queue has the key that `other` names.
    ///
    /// A queue of dead rows is an empty one to the planner, which would read it from one end to the other and look for each row among
    /// the keys. An array of one network keeps it from taking the queue in the order of its index, so that it begins with the keys, see
    /// `docs/decisions/0031`.
    static func hasKey(_ row: SQL, _ id: SQL, of other: SQL) -> SQL {
        """
        \(sql: row).network_id = ANY (ARRAY[\(sql: other).network_id]) AND \(sql: row).\(sql: id) = \(sql: other).\(sql: id)
        """
    }

    /// How many bytes a table has, where its rows are, whichever server is asked; `wholly` says whether with all that belongs to it.
    static func bytes(of table: String, wholly: Bool = false) -> SQL {
        "(SELECT bytes_of(s.tableoid, \(table)::text, \(wholly)) FROM placements_self s)"
    }

    static func walkingAlongIndexes(only: Bool) -> SQL {
        let others = only ? "off" : "on"
        return "SELECT set_config('enable_sort', \(others), true), set_config('enable_bitmapscan', \(others), true)"
    }

    fileprivate static let plannedOnce = [
        "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "enable_hashjoin": "off",
        "enable_mergejoin": "off", "jit": "off", "max_parallel_workers_per_gather": "0",
    ]
}
