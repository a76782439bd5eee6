package import Postgres

/// A schema of a database that hands statements on (Citus): whether its tables are on other servers, and how those are set up.
package struct CitusSchema: Sendable, Equatable {
    package let name: String
    /// Who asks.
    package let role: String
    /// The extension's version.
    package let version: String
    /// Whether the extension knows of schemas that are distributed: from version 12 on.
    package let knowsSchemas: Bool
    /// Whether the server that was asked hands statements on itself, and makes tables.
    package var isCoordinator = false
    /// Whether its tables are kept together on one server.
    package var isDistributed = false
    /// Where they are, `host:port`; `nil` before there are any.
    package var node: String?
    /// Whether that is the server that was asked.
    package var isThere = false
    /// How many servers there are that tables can be on.
    package var workers = 0

    /// Looks at the schema that the sessions of a pool are in, or at another.
    ///
    /// - Returns: What is found; `nil` where the database has no Citus.
    /// - Throws: `PostgresError`.
    package static func look(_ pool: PostgresPool, at name: String? = nil) async throws -> CitusSchema? {
        try await pool.withConnection { session in
            let found = try session.queryFirst(
                .unprepared(
                    """
                    SELECT coalesce(\(name), current_schema()::text, ''), current_user::text, x.extversion,
                        to_regclass('pg_catalog.pg_dist_schema') IS NOT NULL
                    FROM pg_catalog.pg_extension x WHERE x.extname = 'citus'
                    """
                )
            ) { row in
                CitusSchema(
                    name: try row.decode(0),
                    role: try row.decode(1),
                    version: try row.decode(2),
                    knowsSchemas: try row.decode(3)
                )
            }
            guard var schema = found, schema.knowsSchemas else { return found }
            try schema.readCatalog(session)
            return schema
        }
    }

    private mutating func readCatalog(_ session: borrowing PostgresSession) throws {
        try session.forEach(
            .unprepared(
                """
                SELECT (SELECT groupid = 0 FROM pg_catalog.pg_dist_local_group),
                    EXISTS (SELECT FROM pg_catalog.pg_dist_schema s JOIN pg_catalog.pg_namespace n ON n.oid = s.schemaid
                            WHERE n.nspname = \(name)),
                    (SELECT d.nodename || ':' || d.nodeport
                     FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
                     JOIN pg_catalog.pg_dist_shard s ON s.logicalrelid = c.oid
                     JOIN pg_catalog.pg_dist_placement p ON p.shardid = s.shardid
                     JOIN pg_catalog.pg_dist_node d ON d.groupid = p.groupid AND d.noderole = 'primary'
                     WHERE n.nspname = \(name) AND c.relname = 'networks'),
                    EXISTS (
                        SELECT FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
                        JOIN pg_catalog.pg_dist_shard s ON s.logicalrelid = c.oid
                        JOIN pg_catalog.pg_dist_placement p ON p.shardid = s.shardid
                        JOIN pg_catalog.pg_dist_local_group g ON g.groupid = p.groupid
                        WHERE n.nspname = \(name) AND c.relname = 'networks'),
                    (SELECT count(*) FROM pg_catalog.pg_dist_node WHERE noderole = 'primary' AND shouldhaveshards)
                """
            )
        ) { row in
            isCoordinator = try row.decode(0)
            isDistributed = try row.decode(1)
            node = try row.decode(2)
            isThere = try row.decode(3)
            workers = try row.decode(4)
        }
    }
}

// What is in force where the tables are, whichever server is asked.
extension CitusSchema {
    /// A setting that is another one where the tables are than it has to be.
    package struct Lacking: Sendable, Equatable, CustomStringConvertible {
        package let name: String
        package let found: String?

        package var description: String { "\(name) is \(found.map { $0.isEmpty ? "empty" : $0 } ?? "unknown")" }
    }

    /// The settings that lack where the tables are; the pool's sessions are in the schema.
    package static func lackingSettings(_ pool: PostgresPool) async throws -> [Lacking] {
        let wanted = PostgresConfiguration.settingsOfRole
        return try await settings(wanted.keys.sorted(), pool).filter { $0.found != wanted[$0.name] }
    }

    /// The settings because of which that server could lose what it has committed.
    package static func careless(_ pool: PostgresPool) async throws -> [Lacking] {
        try await settings(["fsync", "synchronous_commit"], pool).filter { ["off", "local"].contains($0.found) }
    }

    private static func settings(_ names: [String], _ pool: PostgresPool) async throws -> [Lacking] {
        // A statement on a table is run where that is, and one without is not.
        try await pool.query(
            .unprepared(
                """
                SELECT s.name, current_setting(s.name, true)
                FROM placements_self p CROSS JOIN unnest(\(names)) AS s (name)
                """
            )
        ) { row in Lacking(name: try row.decode(0), found: try row.decode(1)) }.sorted { $0.name < $1.name }
    }

    /// Whether sessions of a pool may make tables in the schema.
    package func canMakeTables(_ pool: PostgresPool) async throws -> Bool {
        try await pool.first(.unprepared("SELECT has_schema_privilege(\(name), 'CREATE')")) ?? false
    }

    /// The tables that cannot be moved while others write to them, as they have no key.
    package func tablesWithoutKey(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query(
            .unprepared(
                """
                SELECT c.relname::text FROM pg_catalog.pg_class c
                JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = \(name)
                WHERE c.relkind IN ('r', 'p') AND c.relreplident <> 'f' AND NOT EXISTS (
                    SELECT FROM pg_catalog.pg_index i
                    WHERE i.indrelid = c.oid AND (i.indisprimary OR i.indisreplident))
                ORDER BY c.relname
                """
            )
        ) { row in try row.decode(0) }
    }
}
