import CarillonTesting
import Logging
import Synchronization
import Testing

@testable import EmbeddedPostgres
@testable import Postgres

/// The cluster that all tests share, each of these in a schema of its own.
enum TestCluster {
    private static let schemaCount = Mutex(0)

    /// Fast instead of durable, and quick to notice deadlocks.
    static func configuration(directory: String) -> EmbeddedClusterConfiguration {
        EmbeddedClusterConfiguration(
            dataDirectory: directory,
            settings: ["fsync": "off", "deadlock_timeout": "20ms", "shared_buffers": "16MB", "max_connections": "400"],
            throwAwayDirectory: directory
        )
    }

    /// A configuration for the shared cluster, in a new, empty schema, by way of the server's own socket or another.
    static func configuration(through host: String? = nil) async throws -> PostgresConfiguration {
        let schema = schemaCount.withLock { count in
            count += 1
            return "test_\(count)"
        }
        let connectionString = try await TestDatabase.connectionString
        var configuration = try PostgresConfiguration(url: connectionString)
        configuration.poolSize = 1
        try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) { pool in
            try await pool.withConnection { session in try session.script("CREATE SCHEMA \(identifier: schema)") }
        }
        let way = host.map { " host=\($0)" } ?? ""
        configuration = try PostgresConfiguration(url: "\(connectionString)\(way) options='-c search_path=\(schema)'")
        configuration.poolSize = 4
        configuration.acquireTimeout = .seconds(20)
        configuration.applicationName = schema
        return configuration
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
    return try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger, body)
}

extension Trait where Self == Lending<PostgresPool> {
    /// A pool on the shared cluster for each test, in a schema of its own.
    static func pool(_ configure: @escaping @Sendable (inout PostgresConfiguration) -> Void = { _ in }) -> Self {
        Lending { try await withTestPool(configure, $0) }
    }
}
