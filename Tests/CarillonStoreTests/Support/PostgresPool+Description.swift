import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

extension PostgresPool {
    /// What the database consists of, a line for each part; indexes of partitions without their names, which nothing depends on.
    func describeSchema() async throws -> [String] {
        try await query(
            """
            SELECT format('column %s %s %s %s %s %s', c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
                          a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) || coalesce(l.collname, '') AS line
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
            LEFT JOIN pg_collation l ON l.oid = a.attcollation
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
            UNION ALL
            SELECT format('%s %s %s %s', c.relkind, c.relname, c.reloptions, c.relispartition)
            FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind NOT IN ('i', 'I')
            UNION ALL
            SELECT format('index of %s %s %s %s', t.relname, i.indisvalid AND i.indisready,
                          (SELECT parent.relname FROM pg_inherits h JOIN pg_class parent ON parent.oid = h.inhparent
                           WHERE h.inhrelid = c.oid),
                          CASE WHEN c.relispartition
                               THEN regexp_replace(pg_get_indexdef(c.oid), 'INDEX \\S+ ON', 'INDEX ON')
                               ELSE pg_get_indexdef(c.oid) END)
            FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
            WHERE c.relnamespace = 'public'::regnamespace
            UNION ALL
            SELECT format('constraint of %s: %s', conrelid::regclass, pg_get_constraintdef(oid))
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace
            UNION ALL
            SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
            UNION ALL
            SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
            ORDER BY line
            """
        ) { row in try row.decode(0, as: String.self) }
    }
}

extension PostgresPool {
    /// How a query that walks along indexes was run: a line for each part of its plan.
    func explain(_ sql: SQL) async throws -> [String] {
        try await snapshot { session in
            try session.walkAlongIndexes()
            let explained: SQL = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) " + .unprepared(sql)
            return try session.query(explained) { row in try row.decode(0, as: String.self) }
        }
    }

    func housekeeper(_ clock: WallClock = .system) -> Housekeeper {
        Housekeeper(pool: self, clock: clock, logger: TestDatabase.logger)
    }

    /// How many entries of these tables' indexes have been read.
    func rowsReadByIndex(of tables: [String]) async throws -> Int64 {
        try await withConnection { try $0.execute("SELECT pg_stat_force_next_flush()") }
        return try await first(
            "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = ANY (\(tables))"
        ) ?? 0
    }

    /// How many blocks of tables and their indexes have been looked at.
    func blocksRead(of tables: [String]) async throws -> Int64 {
        try await withConnection { try $0.execute("SELECT pg_stat_force_next_flush()") }
        return try await first(
            """
            SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::bigint FROM pg_statio_user_tables
            WHERE relname = ANY (\(tables))
            """
        ) ?? 0
    }
}

/// A database that is asked by one session, so that what was read is told; by way of a proxy, if one is given.
func oneConnection(through proxy: FaultyProxy? = nil) async throws -> PostgresConfiguration {
    let database = try #require(try await TestDatabase.make().database)
    var configuration = try await TestDatabase.configuration(of: database, through: proxy?.directory)
    configuration.poolSize = 1
    return configuration
}
