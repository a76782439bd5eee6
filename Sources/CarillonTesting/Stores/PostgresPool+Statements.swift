package import Postgres

extension PostgresPool {
    /// Runs statements on some connection, one after the other.
    package func script(_ sql: SQL) async throws { try await withConnection { session in try session.script(sql) } }

    /// The first field of each row.
    package func all<Value: PostgresDecodable & Sendable>(_ sql: SQL, as type: Value.Type) async throws -> [Value] {
        try await query(sql) { row in try row.decode(0, as: type) }
    }
}
