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
}
