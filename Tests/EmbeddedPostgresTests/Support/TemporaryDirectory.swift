import CarillonTesting
import Foundation
import Logging
import Postgres
import Synchronization
import Testing

@testable import EmbeddedPostgres

private let directoryCount = Mutex(0)

/// Lends a path at which nothing exists yet, and removes what was made there.
func withTemporaryPath<Value>(suffix: String = "", _ body: (String) async throws -> Value) async throws -> Value {
    let number = directoryCount.withLock { count in
        count += 1
        return count
    }
    let path = "/tmp/carillon-embedded-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path + suffix)
}

/// A path at which nothing exists yet.
struct TemporaryPath: Sendable {
    fileprivate let path: String

    /// That of the test that runs, of a suite with the trait `temporaryPath`.
    static var here: String { lent(TemporaryPath.self).path }
}

extension Trait where Self == Lending<TemporaryPath> {
    static var temporaryPath: Self {
        Lending { test in try await withTemporaryPath { path in try await test(TemporaryPath(path: path)) } }
    }
}

let silentLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Describes a cluster that is fast instead of durable.
func makeCluster(
    at path: String,
    settings: [String: String] = [:],
    startTimeout: Duration = .seconds(60),
    isThrownAway: Bool = false,
    logger: Logger = silentLogger
) -> EmbeddedCluster {
    EmbeddedCluster(
        configuration: EmbeddedClusterConfiguration(
            dataDirectory: path,
            settings: ["fsync": "off", "shared_buffers": "16MB"].merging(settings) { _, given in given },
            startTimeout: startTimeout,
            throwAwayDirectory: isThrownAway ? path : nil
        ),
        logger: logger
    )
}

/// Starts a cluster for as long as `body` runs.
func withCluster<Value>(
    at path: String,
    settings: [String: String] = [:],
    _ body: (EmbeddedCluster) async throws -> Value
) async throws -> Value {
    let cluster = makeCluster(at: path, settings: settings)
    do {
        _ = try await cluster.start()
        let value = try await body(cluster)
        await cluster.stop()
        return value
    } catch {
        await cluster.stop()
        throw error
    }
}

func run(_ script: SQL, on cluster: EmbeddedCluster) async throws {
    try await PostgresPool.withPool(
        configuration: PostgresConfiguration(url: cluster.connectionString),
        logger: silentLogger
    ) { pool in
        try await pool.withConnection { session in try session.script(script) }
    }
}

func text(_ query: SQL, on cluster: EmbeddedCluster) async throws -> String? {
    try await PostgresPool.withPool(
        configuration: PostgresConfiguration(url: cluster.connectionString),
        logger: silentLogger
    ) { pool in
        try await pool.first(query, as: String.self)
    }
}
