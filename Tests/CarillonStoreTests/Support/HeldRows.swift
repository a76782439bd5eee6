import CarillonTesting
import Dispatch
import Foundation
import Postgres

@testable import CarillonStore

/// A transaction that stays open, with the rows that it has locked.
struct HeldRows {
    let mayEnd: DispatchSemaphore
    let transaction: Task<Void, any Error>

    /// Commits it.
    func release() async throws {
        mayEnd.signal()
        try await transaction.value
    }
}

extension PostgresPool {
    /// Runs a statement and keeps its transaction open.
    func hold(_ statement: SQL) async -> HeldRows {
        let (held, hold) = AsyncStream<Void>.makeStream()
        let mayEnd = DispatchSemaphore(value: 0)
        let transaction = Task {
            defer { hold.finish() }
            try await withTransaction { session in
                try session.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                try session.execute(statement)
                hold.yield()
                mayEnd.wait()
            }
        }
        for await _ in held.prefix(1) {}
        return HeldRows(mayEnd: mayEnd, transaction: transaction)
    }
}

extension PostgresPool {
    /// Whether somebody waits in this database for what somebody else holds.
    func isAnybodyWaiting() async throws -> Bool {
        try await first(
            """
            SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
                           WHERE NOT l.granted AND a.datname = current_database())
            """,
            as: Bool.self
        ) == true
    }
}

/// Does something while a transaction elsewhere goes on looking at the database as it was before.
func withOldSnapshot<Value>(
    of configuration: PostgresConfiguration,
    _ body: () async throws -> Value
) async throws -> Value {
    try await TestDatabase.withPool(configuration) { elsewhere in
        let (looked, hasLooked) = AsyncStream<Void>.makeStream()
        let mayEnd = DispatchSemaphore(value: 0)
        let transaction = Task {
            defer { hasLooked.finish() }
            try await elsewhere.snapshot { session in
                try session.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                try session.execute("SELECT count(*) FROM networks")
                hasLooked.yield()
                mayEnd.wait()
            }
        }
        for await _ in looked.prefix(1) {}
        defer { mayEnd.signal() }
        let value = try await body()
        mayEnd.signal()
        try await transaction.value
        return value
    }
}
