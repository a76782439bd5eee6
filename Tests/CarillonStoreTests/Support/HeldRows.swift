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
                try session.execute(statement)
                hold.yield()
                mayEnd.wait()
            }
        }
        for await _ in held.prefix(1) {}
        return HeldRows(mayEnd: mayEnd, transaction: transaction)
    }
}
