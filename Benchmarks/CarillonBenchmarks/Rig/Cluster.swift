import EmbeddedPostgres
import Foundation
import Postgres
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A throw-away PostgreSQL server with durable settings, and a Carillon schema in it.
struct Cluster: Sendable {
    /// Where it runs.
    let workshop: Workshop
    /// Where to connect, in libpq's form.
    let url: String
    /// For set-up and for counting.
    let pool: PostgresPool
    /// The server's first process; `nil` where it cannot be told.
    let server: ProcessStatus?
    /// What every service on this database has to be started with.
    let secrets = ServiceSecrets()

    /// What PostgreSQL knows the benchmark by.
    static let applicationName = "carillon-benchmarks"

    // These are the defaults of Carillon's embedded server; they are what the figures depend on most.
    private static let durability = ["fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"]

    /// Starts a server, with `settings` besides those of all benchmarks, and lends it; afterwards it is stopped. Unless it
    /// migrates, whoever borrows it sees to the schema.
    static func withCluster<Value: Sendable>(
        in workshop: Workshop,
        migrates: Bool = true,
        settings: [String: String] = [:],
        _ body: (Cluster) async throws -> Value
    ) async throws -> Value {
        workshop.say("Starting a PostgreSQL server")
        let directory = workshop.newPath("postgres")
        let server = EmbeddedCluster(
            configuration: EmbeddedClusterConfiguration(
                dataDirectory: directory,
                settings: durability.merging(settings) { $1 },
                throwAwayDirectory: directory
            ),
            logger: workshop.logger
        )
        do {
            let url = try await server.start()
            var configuration = try PostgresConfiguration(url: url)
            configuration.poolSize = 2
            configuration.statementTimeout = .seconds(300)
            configuration.applicationName = applicationName
            let value = try await PostgresPool.withPool(configuration: configuration, logger: workshop.logger) { pool in
                let process = processID(inFile: "\(directory)/cluster/postmaster.pid").map(ProcessStatus.init)
                let cluster = Cluster(workshop: workshop, url: url, pool: pool, server: process)
                if migrates { try await cluster.migrate() }
                return try await body(cluster)
            }
            await server.stop()
            return value
        } catch {
            await server.stop()
            throw error
        }
    }

    /// Starts both benchmarks and yardsticks from the same state of the write-ahead log.
    func checkpoint() async throws {
        try await script("CHECKPOINT")
    }

    /// Runs statements.
    func script(_ sql: SQL) async throws {
        try await pool.withConnection { session in try session.script(sql) }
    }

    /// Asks for one number.
    func count(_ sql: SQL) async throws -> Int {
        Int(try await pool.first(sql, as: Int64.self) ?? 0)
    }

    /// Whether Carillon has anything left to do: 1, or 0.
    static let hasWork: SQL =
        "SELECT (EXISTS (SELECT FROM inbox) OR EXISTS (SELECT FROM deliveries))::integer::bigint"

    /// Waits until Carillon has nothing left to do; answers how many seconds it took.
    /// - Throws: ``BenchmarkFailure`` when it takes more than five minutes.
    func waitUntilDone() async throws -> Double {
        let start = ContinuousClock.now
        while try await count(Self.hasWork) > 0 {
            guard ContinuousClock.now - start < .seconds(300) else {
                throw BenchmarkFailure("events or deliveries are still not done five minutes after the load")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private static func processID(inFile path: String) -> Int32? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// The environment of a Carillon on this database: everything that is not named here has its default.
    var environment: [Environment.Key: String] {
        [
            "PATH": "/usr/bin:/bin",
            "CARILLON_DATABASE_URL": url,
            "CARILLON_OPERATOR_TOKEN": secrets.operatorToken,
            "CARILLON_MASTER_KEY": secrets.masterKey,
            "CARILLON_LISTEN": "127.0.0.1:0",
            "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0",
            "CARILLON_DATA_DIR": "\(workshop.directory)/data",
            "CARILLON_LOG_FORMAT": "json",
        ]
    }

    /// Makes the schema, and those of the placements that the environment names.
    func migrate(with environment: [Environment.Key: String] = [:]) async throws {
        let result = try await run(
            .path(FilePath(workshop.program)),
            arguments: ["migrate"],
            environment: .custom(self.environment.merging(environment) { $1 }),
            workingDirectory: FilePath(workshop.resources),
            output: .string(limit: 65_536),
            error: .combinedWithOutput
        )
        guard result.terminationStatus == .exited(0) else {
            throw BenchmarkFailure("carillon migrate failed:\n\(result.standardOutput)")
        }
    }
}

/// The secrets that a service needs to be given when its database is not its own.
struct ServiceSecrets: Sendable {
    /// The operator's credential.
    let operatorToken = Self.randomText(bytes: 36)
    /// The key that encrypts secrets at rest.
    let masterKey = Self.randomText(bytes: 32)

    private static func randomText(bytes count: Int) -> String {
        Data((0..<count).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    }
}
