import EmbeddedPostgres
import Postgres

/// A server whose sessions of the superuser tests borrow.
protocol SessionLender: Sendable {
    func withSession<Value: Sendable>(
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value
}

extension SessionLender {
    /// Runs statements one after the other.
    func script(_ sql: SQL) async throws { try await withSession { session in try session.script(sql) } }

    /// Runs a statement; answers how many rows it touched.
    @discardableResult
    func execute(_ sql: SQL) async throws -> Int { try await withSession { session in try session.execute(sql) } }

    /// The first field of each row.
    func all<Value: PostgresDecodable & Sendable>(_ sql: SQL, as type: Value.Type) async throws -> [Value] {
        try await withSession { session in try session.query(sql) { row in try row.decode(0, as: type) } }
    }

    /// The first field of the first row.
    func first<Value: PostgresDecodable & Sendable>(_ sql: SQL, as type: Value.Type) async throws -> Value? {
        try await withSession { session in try session.queryFirst(sql) { row in try row.decode(0, as: type) } }
    }
}

extension EmbeddedCluster: SessionLender {}
