import Foundation
import Postgres

/// A transaction that somebody has forgotten.
enum HeldSnapshot {
    /// Holds a snapshot meanwhile.
    static func hold<Value>(on cluster: Cluster, _ body: () async throws -> Value) async throws -> Value {
        var configuration = try PostgresConfiguration(url: cluster.url)
        configuration.poolSize = 1
        configuration.idleInTransactionTimeout = .zero
        configuration.applicationName = Cluster.applicationName
        return try await PostgresPool.withPool(configuration: configuration, logger: cluster.workshop.logger) { pool in
            let (looked, hasLooked) = AsyncStream<Void>.makeStream()
            let mayEnd = DispatchSemaphore(value: 0)
            let transaction = Task {
                defer { hasLooked.finish() }
                try await pool.withTransaction(TransactionOptions(isolation: .repeatableRead)) { session in
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
}
