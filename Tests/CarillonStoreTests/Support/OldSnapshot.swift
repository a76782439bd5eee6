import Dispatch
import Postgres

@testable import CarillonStore

/// Does something while a transaction elsewhere goes on looking at the database as it was before.
func withOldSnapshot<Value>(
    of configuration: PostgresConfiguration,
    _ body: () async throws -> Value
) async throws -> Value {
    try await withDatabase(configuration) { elsewhere in
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
