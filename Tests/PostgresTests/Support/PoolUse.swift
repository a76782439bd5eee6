import Testing

@testable import Postgres

/// Uses a connection of the pool.
func use(_ pool: PostgresPool) async throws {
    try await pool.withConnection { session in _ = try session.execute("SELECT 1") }
}

/// The process of the server that a call of the pool meets.
func backend(_ pool: PostgresPool, then note: @Sendable () -> Void = {}) async throws -> Int32? {
    try await pool.withConnection { session in
        note()
        return try session.first("SELECT pg_backend_pid()", as: Int32.self)
    }
}

/// Ends a session and waits until it is gone.
func terminate(_ processID: Int32?) async throws {
    let processID = try #require(processID)
    try await withTestPool { pool in
        let isGone = try await pool.first("SELECT pg_terminate_backend(\(processID), 10000)", as: Bool.self)
        #expect(isGone == true)
    }
}
