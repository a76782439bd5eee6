import Foundation
import Logging
import Postgres
import Synchronization
import Testing

@testable import EmbeddedPostgres

private let directoryCount = Mutex(0)

/// Lends a path at which nothing exists yet, and removes what was made there.
func withTemporaryPath<Value>(
    suffix: String = "",
    _ body: (String) async throws -> Value
) async throws -> Value {
    let number = directoryCount.withLock { count in
        count += 1
        return count
    }
    let path = "/tmp/carillon-embedded-\(ProcessInfo.processInfo.processIdentifier)-\(number)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path + suffix)
}

let silentLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Describes a cluster that is fast instead of durable.
func makeCluster(at path: String, settings: [String: String] = [:], isThrownAway: Bool = false) -> EmbeddedCluster {
    EmbeddedCluster(
        configuration: EmbeddedClusterConfiguration(
            dataDirectory: path,
            settings: ["fsync": "off", "shared_buffers": "16MB"].merging(settings) { _, given in given },
            throwAwayDirectory: isThrownAway ? path : nil
        ),
        logger: silentLogger
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

/// Runs a script on a cluster.
func run(_ script: SQL, on cluster: EmbeddedCluster) async throws {
    try await PostgresPool.withPool(
        configuration: PostgresConfiguration(url: cluster.connectionString),
        logger: silentLogger
    ) { pool in
        try await pool.withConnection { session in try session.script(script) }
    }
}

/// Reads one text from a cluster.
func text(_ query: SQL, on cluster: EmbeddedCluster) async throws -> String? {
    try await PostgresPool.withPool(
        configuration: PostgresConfiguration(url: cluster.connectionString),
        logger: silentLogger
    ) { pool in
        try await pool.withConnection { session in
            try session.queryFirst(query) { row in try row.decode(0, as: String.self) }
        }
    }
}

/// Looks again and again until a condition holds; fails when it does not within 20 seconds.
func eventually(
    _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try await !condition() {
        try #require(ContinuousClock.now < deadline, comment, sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(5))
    }
}
