package import Postgres

/// The transaction that has been looking at the database for longest: what has died since then stays in tables and indexes.
package enum OldestSnapshot {
    /// For how long; of other accounts' sessions PostgreSQL tells only who is allowed to see them (`pg_read_all_stats`).
    package static func age(_ pool: PostgresPool) async throws -> Duration {
        let milliseconds = try await pool.queryFirst(
            """
            SELECT coalesce(extract(epoch FROM max(clock_timestamp() - held.since)) * 1000, 0)::bigint
            FROM (
                SELECT xact_start AS since FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                    AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND backend_type <> 'autovacuum worker'
                UNION ALL
                SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
            ) AS held
            """
        ) { row in try row.decode(0, as: Int64.self) }
        return .milliseconds(max(0, milliseconds ?? 0))
    }
}
