import Postgres

/// How many rows of the tables that hold live work were ever written, by PostgreSQL's own count.
struct HotTables: Sendable, Equatable {
    let inserted: Int
    let updated: Int
    let deleted: Int

    // A session that has nothing to do hands its counts in after ten seconds at the latest.
    private static let settleTime = Duration.seconds(11)

    /// The counts, when all sessions have handed theirs in; nothing may be going on.
    static func settledCount(on cluster: Cluster) async throws -> HotTables {
        cluster.workshop.say("Waiting for PostgreSQL's statistics")
        try await Task.sleep(for: settleTime)
        let counts = try await cluster.pool.queryFirst(
            """
            SELECT sum(n_tup_ins)::bigint, sum(n_tup_upd)::bigint, sum(n_tup_del)::bigint FROM pg_stat_user_tables
            WHERE relname ~ '^(deliveries|inbox|outcomes|events)'
            """
        ) { row in
            HotTables(
                inserted: Int(try row.decode(0, as: Int64.self)),
                updated: Int(try row.decode(1, as: Int64.self)),
                deleted: Int(try row.decode(2, as: Int64.self))
            )
        }
        guard let counts else { throw BenchmarkFailure("PostgreSQL does not tell its statistics") }
        return counts
    }
}
