import Postgres

@testable import CarillonStore

extension PostgresPool {
    /// How a query that walks along indexes was run: a line for each part of its plan.
    func explain(_ sql: SQL) async throws -> [String] {
        try await snapshot { session in
            try session.walkAlongIndexes()
            return try session.query("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) " + .unprepared(sql)) {
                row in
                try row.decode(0, as: String.self)
            }
        }
    }

    /// How many entries of these tables' indexes have been read.
    func rowsReadByIndex(of tables: [String]) async throws -> Int64 {
        try await withConnection { try $0.execute("SELECT pg_stat_force_next_flush()") }
        return try await withConnection { session in
            try session.queryFirst(
                "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = ANY (\(tables))"
            ) { row in try row.decode(0, as: Int64.self) } ?? 0
        }
    }
}
