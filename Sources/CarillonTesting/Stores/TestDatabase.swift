import CarillonStore
import EmbeddedPostgres
import Foundation
package import Logging
package import Postgres
import Synchronization

/// The throw-away cluster that all tests of one process share, each in a database of its own.
package enum TestDatabase {
    package static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    package static let migrations = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Migrations").standardizedFileURL.path

    /// Where the cluster is, and what else goes with it.
    package static let directory = "/tmp/carillon-store-\(ProcessInfo.processInfo.processIdentifier)"
    private static let count = Mutex(0)
    private static let cluster = EmbeddedCluster(
        configuration: EmbeddedClusterConfiguration(
            dataDirectory: directory,
            settings: [
                "fsync": "off", "deadlock_timeout": "20ms", "shared_buffers": "128MB", "max_connections": "500",
            ],
            throwAwayDirectory: directory
        ),
        logger: logger
    )
    private static let start = Task<String, any Error> {
        // Swift Testing has no hook for the end of the run.
        atexit { TestDatabase.stopAtExit() }
        return try await cluster.start()
    }
    private static let template = Task<String, any Error> { try await makeTemplate(migrations) }

    /// The migrated database of the next test that asks for one, which is made while the last one works.
    private static let spare = Mutex<Task<String, any Error>?>(nil)

    /// Where to find a new database, migrated or empty.
    package static func make(migrated: Bool = true) async throws -> PostgresConfiguration {
        let name = try await migrated ? makeMigrated() : create(from: nil)
        return try await configuration(of: name)
    }

    private static func makeMigrated() async throws -> String {
        let template = try await template.value
        let present = spare.withLock { spare in
            // Nothing of the test that asks goes on in it.
            defer { spare = Task.detached { try await create(from: template) } }
            return spare
        }
        return if let present { try await present.value } else { try await create(from: template) }
    }

    /// Makes a database with the migrations of a directory, to make others of.
    package static func makeTemplate(_ directory: String) async throws -> String {
        let name = try await create(from: nil)
        try await PostgresPool.withPool(configuration: configuration(of: name), logger: logger) { pool in
            _ = try await Migrator(pool: pool, directory: directory, logger: logger).migrate()
        }
        return name
    }

    /// Makes a database of a template, or an empty one.
    package static func create(from template: String?) async throws -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let name = "test_\(number)"
        var configuration = try await configuration(of: "carillon")
        configuration.poolSize = 1
        let source = template ?? "template1"
        _ = try await PostgresPool.withPool(configuration: configuration, logger: logger) { pool in
            try await pool.execute(.unprepared("CREATE DATABASE \(identifier: name) TEMPLATE \(identifier: source)"))
        }
        return name
    }

    /// Where to find a database, by way of another directory of sockets if one is given.
    package static func configuration(
        of database: String,
        through directory: String? = nil
    ) async throws -> PostgresConfiguration {
        let way = directory.map { " host=\($0)" } ?? ""
        var configuration = try PostgresConfiguration(url: "\(try await start.value) dbname=\(database)\(way)")
        configuration.poolSize = 4
        configuration.acquireTimeout = .seconds(30)
        configuration.planForStores()
        configuration.joinUnitsOfWork()
        return configuration
    }

    package static var connectionString: String { get async throws { try await start.value } }

    package static func proxy() async throws -> FaultyProxy { try FaultyProxy(server: await socket) }

    package static var socket: String {
        get async throws {
            let fields = try await start.value.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }
            let values = Dictionary(fields.map { (String($0[0]), String($0[1])) }) { _, last in last }
            return "\(values["host"] ?? "")/.s.PGSQL.\(values["port"] ?? "")"
        }
    }

    /// Lends a pool on a database of its own.
    package static func withPool<Value>(
        _ configuration: PostgresConfiguration? = nil,
        migrated: Bool = true,
        _ body: (PostgresPool) async throws -> Value
    ) async throws -> Value {
        let configuration = if let configuration { configuration } else { try await make(migrated: migrated) }
        return try await PostgresPool.withPool(configuration: configuration, logger: logger, body)
    }

    // At exit Subprocess has stopped watching its children already, so this does without it.
    private static func stopAtExit() {
        guard let processID = PostmasterFile(path: "\(directory)/cluster/postmaster.pid")?.processID else { return }
        kill(processID, SIGQUIT)
        waitpid(processID, nil, 0)
        try? FileManager.default.removeItem(atPath: directory)
    }
}
