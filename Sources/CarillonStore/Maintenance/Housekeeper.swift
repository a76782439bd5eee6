package import CarillonCore
package import Logging
package import Postgres

/// Keeps the database small: makes and drops the daily partitions, forgets what has aged.
///
/// Any number of replicas may sweep at once; what one is doing the others leave out.
package struct Housekeeper: Sendable {
    /// How long events, outcomes, dead letters and tombstones are kept, in days.
    static let retentionDays: Int64 = 14
    /// How long unregistered devices are kept, in days: until then they can be restored.
    static let unregisteredRetentionDays: Int64 = 30
    /// For how many days ahead there are partitions.
    static let daysAhead: Int64 = 3

    private static let batchSize = 5000
    /// Any number, as long as nobody else takes it.
    private static let turn: Int32 = 0x6361_7269

    private let pool: PostgresPool
    private let clock: WallClock
    private let logger: Logger

    /// A housekeeper for the database of `pool` that takes the date from `clock`.
    package init(pool: PostgresPool, clock: WallClock = .system, logger: Logger) {
        self.pool = pool
        self.clock = clock
        self.logger = logger
    }

    /// Does all that is due, in transactions of bounded size. Meant to be run every minute or so.
    ///
    /// What fails does not keep the rest from being done.
    /// - Throws: The first error, when all has been tried.
    package func sweep() async throws {
        let window = Int(idempotencyWindow.components.seconds / 86_400)
        let days = Int(Self.retentionDays)
        let unregistered = Int(Self.unregisteredRetentionDays)
        let isOld: SQL = "facts_at < now() - \(days) * interval '1 day'"
        let aged: [(table: String, condition: SQL)] = [
            ("changes", "changed_at < now() - interval '10 minutes'"),
            ("event_keys", "received_at < now() - \(window) * interval '1 day'"),
            ("dead_letters", "at < now() - \(days) * interval '1 day'"),
            ("devices", "state = 'unregistered' AND state_at < now() - \(unregistered) * interval '1 day'"),
            ("provider_tokens", "issued_at < now() - interval '1 day'"),
            (
                "lanes",
                "changed_at < now() - interval '25 hours' AND braked_since IS NULL AND (believed_until < now()) IS NOT FALSE"
            ),
            ("idempotency_keys", "created_at < now() - interval '1 day'"),
            ("members", "NOT is_member AND toggles IS NULL AND " + isOld),
            ("channels", "deleted AND " + isOld),
            ("users", "deleted AND " + isOld),
        ]
        var failures: [any Error] = []
        func attempt(_ step: () async throws -> Void) async {
            do { try await step() } catch { failures.append(error) }
        }
        await attempt { try await sweepPartitions() }
        for (table, condition) in aged { await attempt { try await sweep(table, where: condition) } }
        await attempt { try await sweepOrphans() }
        if let failure = failures.first { throw failure }
    }

    /// Makes the partitions of today and the next days; to be done before the first row for them is written, too.
    package func makePartitions() async throws {
        let today = PartitionDay(containing: clock.now())
        for table in DailyPartitions.tables {
            let partitions = DailyPartitions(table: table)
            _ = try await taking("\(table): make") { session in
                for offset in 0...Self.daysAhead { try partitions.make(today.advanced(by: offset), session) }
            }
        }
    }

    /// Runs `body` in a transaction unless another replica is at the same task; `nil` then.
    private func taking<Value: Sendable>(
        _ task: String,
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value? {
        try await pool.withTransaction(TransactionOptions(retries: 3, lockTimeout: .seconds(2))) { session in
            let isOurs = try session.queryFirst(
                "SELECT pg_try_advisory_xact_lock(\(Self.turn), hashtext(\(task)))"
            ) { row in try row.decode(0, as: Bool.self) }
            return isOurs == true ? try body(session) : nil
        }
    }

    private func sweep(_ table: String, where condition: SQL) async throws {
        var deleted = Self.batchSize
        while deleted == Self.batchSize {
            deleted =
                try await taking(table) { session in
                    try session.execute(
                        """
                        DELETE FROM \(identifier: table) WHERE ctid = ANY (ARRAY(
                            SELECT ctid FROM \(identifier: table) WHERE \(sql: condition) LIMIT \(Self.batchSize)
                            FOR UPDATE SKIP LOCKED))
                        """
                    )
                } ?? 0
        }
    }

    private func sweepPartitions() async throws {
        try await makePartitions()
        let today = PartitionDay(containing: clock.now())
        for table in DailyPartitions.tables {
            let partitions = DailyPartitions(table: table)
            let oldest = today.advanced(by: -Self.retentionDays)
            let days = try await pool.withConnection { session in try partitions.days(session) }
            for day in days where day < oldest {
                logger.info("Dropping an old partition", metadata: ["partition": "\(partitions.name(of: day))"])
                _ = try await taking("\(table): drop") { session in try partitions.drop(day, session) }
            }
            let isStray: SQL = "event_id < \(oldest.firstID)"
            try await sweep(partitions.defaultName, where: isStray)
        }
    }

    /// Finishes the deletion of networks whose deleting process ended too early.
    private func sweepOrphans() async throws {
        for table in NetworkPurge.tables + NetworkPurge.partitionedTables {
            let orphans = try await taking("\(table): orphans") { session in
                try session.query(
                    """
                    WITH RECURSIVE walk AS (
                        (SELECT t.network_id FROM \(identifier: table) t ORDER BY t.network_id LIMIT 1)
                        UNION ALL
                        SELECT following.network_id
                        FROM walk w CROSS JOIN LATERAL (
                            SELECT t.network_id FROM \(identifier: table) t
                            WHERE t.network_id > w.network_id ORDER BY t.network_id LIMIT 1
                        ) AS following
                    )
                    SELECT w.network_id FROM walk w
                    WHERE NOT EXISTS (SELECT FROM networks n WHERE n.network_id = w.network_id)
                    LIMIT 100
                    """
                ) { row in try row.id(0, of: Network.self) }
            }
            for network in orphans ?? [] { try await pool.purge(network) }
        }
    }
}
