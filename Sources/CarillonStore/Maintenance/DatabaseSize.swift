package import Postgres

/// What the database takes on PostgreSQL's disk, with all indexes and what is dead in it.
package enum DatabaseSize {
    /// In bytes. PostgreSQL looks at each of its files, so that this is not to be asked every few seconds.
    package static func bytes(_ pool: PostgresPool) async throws -> Int64 {
        try await pool.first("SELECT pg_database_size(current_database())", as: Int64.self) ?? 0
    }
}
