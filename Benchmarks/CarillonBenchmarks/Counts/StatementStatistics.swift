import Postgres

/// What PostgreSQL counts of the statements that a service sends, by its module `pg_stat_statements`.
struct StatementStatistics: Sendable {
    /// How many there were, those that begin and end transactions included.
    let statements: Int
    /// How many of them accepted events: a flight is what one of them claims the keys of.
    let flights: Int
    /// How many pages they looked at in shared buffers, wherever the pages came from, their planning included.
    let buffers: Int

    /// What a server needs to count.
    static let settings = [
        "shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track_planning": "on",
    ]
    /// What its database needs.
    static let installation: SQL = "CREATE EXTENSION pg_stat_statements"
    /// What makes everything zero.
    static let beginning: SQL = "SELECT pg_stat_statements_reset()"

    /// Whether a server could count.
    static func isInstalled(on cluster: Cluster) async throws -> Bool {
        try await cluster.count("SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'") > 0
    }

    /// Reads what was counted since the beginning, without what benchmarks ask themselves.
    init(of cluster: Cluster) async throws {
        func sum(_ sum: SQL) async throws -> Int {
            try await cluster.count(
                """
                SELECT coalesce(\(sql: sum), 0)::bigint FROM pg_stat_statements
                WHERE query NOT LIKE '%pg_stat_statements%' AND query NOT LIKE 'SELECT (EXISTS (SELECT FROM inbox) OR%'
                """
            )
        }
        statements = try await sum("sum(calls)")
        flights = try await sum("sum(calls) FILTER (WHERE query LIKE 'INSERT INTO event_keys%')")
        buffers = try await sum("sum(shared_blks_hit + shared_blks_read)")
    }
}
