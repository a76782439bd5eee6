import Foundation
import Logging
import Synchronization
import Testing

@testable import EmbeddedPostgres
@testable import Postgres

/// The throw-away cluster that all server tests of one process share, each in a schema of its own.
enum TestCluster {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static let directory = "/tmp/carillon-test-\(ProcessInfo.processInfo.processIdentifier)"
    private static let cluster = EmbeddedCluster(configuration: configuration(directory: directory), logger: logger)
    private static let schemaCount = Mutex(0)
    private static let start = Task<String, any Error> {
        // Swift Testing has no hook for the end of the run.
        atexit { TestCluster.stopAtExit() }
        return try await cluster.start()
    }

    /// Fast instead of durable, and quick to notice deadlocks.
    static func configuration(directory: String) -> EmbeddedClusterConfiguration {
        EmbeddedClusterConfiguration(
            dataDirectory: directory,
            settings: [
                "fsync": "off", "deadlock_timeout": "20ms", "shared_buffers": "16MB", "max_connections": "400",
            ],
            throwAwayDirectory: directory
        )
    }

    /// Where the shared cluster is.
    static func connectionString() async throws -> String { try await start.value }

    /// A proxy in front of the shared cluster.
    static func proxy() async throws -> CommitProxy {
        let fields = try await start.value.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }
        let values = Dictionary(fields.map { (String($0[0]), String($0[1])) }) { _, last in last }
        return try #require(CommitProxy(serverDirectory: values["host"] ?? "", port: values["port"] ?? ""))
    }

    /// A configuration for the shared cluster, in a new, empty schema, by way of the server's own socket or another.
    static func configuration(through host: String? = nil) async throws -> PostgresConfiguration {
        let schema = schemaCount.withLock { count in
            count += 1
            return "test_\(count)"
        }
        let connectionString = try await start.value
        var configuration = try PostgresConfiguration(url: connectionString)
        configuration.poolSize = 1
        try await PostgresPool.withPool(configuration: configuration, logger: logger) { pool in
            try await pool.withConnection { session in try session.script("CREATE SCHEMA \(identifier: schema)") }
        }
        let way = host.map { " host=\($0)" } ?? ""
        configuration = try PostgresConfiguration(url: "\(connectionString)\(way) options='-c search_path=\(schema)'")
        configuration.poolSize = 4
        configuration.acquireTimeout = .seconds(20)
        configuration.applicationName = schema
        return configuration
    }

    // At exit Subprocess has stopped watching its children already, so this does without it.
    private static func stopAtExit() {
        guard let processID = PostmasterFile(path: "\(directory)/cluster/postmaster.pid")?.processID else { return }
        kill(processID, SIGQUIT)
        waitpid(processID, nil, 0)
        try? FileManager.default.removeItem(atPath: directory)
    }
}

/// Lends a pool on the shared cluster, in a schema of its own.
func withTestPool<Value>(
    through host: String? = nil,
    _ configure: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (PostgresPool) async throws -> Value
) async throws -> Value {
    var configuration = try await TestCluster.configuration(through: host)
    configure(&configuration)
    return try await PostgresPool.withPool(configuration: configuration, logger: TestCluster.logger, body)
}
