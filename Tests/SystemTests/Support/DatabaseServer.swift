import EmbeddedPostgres
import Foundation
import Logging
import Postgres
import Testing

/// A PostgreSQL server that services share, and what they need to use it.
struct DatabaseServer: SessionLender {
    /// What services on this server are started with.
    let environment: [String: String]

    private let scratch: Scratch
    private let cluster: EmbeddedCluster
    private let dataDirectory: String

    /// A server that does not run yet.
    init(in scratch: Scratch) {
        self.scratch = scratch
        dataDirectory = scratch.path("server")
        cluster = EmbeddedCluster(
            configuration: .init(dataDirectory: dataDirectory, throwAwayDirectory: scratch.path),
            logger: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }
        )
        environment = [
            "CARILLON_DATABASE_URL": cluster.connectionString,
            "CARILLON_OPERATOR_TOKEN": String(repeating: "o", count: 32),
            "CARILLON_MASTER_KEY": Data(repeating: 1, count: 32).base64EncodedString(),
        ]
    }

    /// A server that runs, with all tables.
    static func migrated(in scratch: Scratch = Scratch()) async throws -> DatabaseServer {
        let server = DatabaseServer(in: scratch)
        try await server.start()
        try await server.migrate()
        return server
    }

    /// The server as a URL without blanks; with `schema`, a schema of its database.
    func url(schema: String? = nil) -> String {
        let pairs = cluster.connectionString.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }
        var items = pairs.filter { $0.count == 2 && $0[0] != "dbname" }.map { pair in
            "\(pair[0])=\(pair[1].trimmingCharacters(in: ["'"]).replacing("/", with: "%2F"))"
        }
        if let schema { items.append("options=-c%20search_path%3D\(schema)") }
        return "postgres:///carillon?\(items.joined(separator: "&"))"
    }

    /// Runs `body` while the server's processes stand still.
    func whileFrozen(_ body: () async throws -> Void) async throws {
        let server = try #require(PostmasterFile(dataDirectory: dataDirectory))
        server.freezeAll()
        defer { server.thawAll() }
        try await body()
    }

    /// Starts the server, again where it was killed.
    func start() async throws { _ = try await cluster.start() }

    /// Stops the server.
    func stop() async { await cluster.stop() }

    /// Ends the server at once, as a power cut would.
    func kill() throws { try #require(PostmasterFile(dataDirectory: dataDirectory)).killAll() }

    /// Has the server refuse writes, as one does to which another has taken over, or accept them again.
    func setReadOnly(_ isReadOnly: Bool) async throws {
        try await withAnySession { session in
            for statement: SQL in [
                "ALTER SYSTEM SET default_transaction_read_only = \(sql: isReadOnly ? "on" : "off")",
                "SELECT pg_reload_conf()",
            ] {
                _ = try session.execute(.unprepared(statement))
            }
        }
        // Whoever is connected says in each transaction what it is for.
        try await disconnectAll()
    }

    /// Ends all connections.
    func disconnectAll() async throws {
        try await withAnySession { session in
            _ = try session.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
                """
            )
        }
    }

    /// Lends a session of the superuser, also where nothing may be written.
    private func withAnySession(_ body: @Sendable (borrowing PostgresSession) throws -> Void) async throws {
        let configuration = try PostgresConfiguration(url: url() + "&target_session_attrs=any")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await PostgresPool.withPool(configuration: configuration, logger: logger) { pool in
            try await pool.withConnection(body)
        }
    }

    /// Lets the leases of all events in hand run out, as they do a minute after the end of whoever had them.
    func endLeases() async throws {
        try await withSession { session in _ = try session.execute("UPDATE inbox SET run_at = now()") }
    }

    /// Lets the time pass after which endpoints begin.
    func beginEndpoints() async throws { try await cluster.beginEndpoints() }

    /// Lends a session of the superuser.
    func withSession<Value: Sendable>(
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        try await cluster.withSession(body)
    }

    /// Makes the tables.
    func migrate() async throws {
        let program = try Program(["migrate"], environment: environment, scratch: scratch)
        try #require(try await program.exitStatus() == 0, "\(program.errorText)")
    }
}

extension Scratch {
    /// The server that a service has in its own directory.
    var ownServer: EmbeddedCluster {
        EmbeddedCluster(
            configuration: .init(dataDirectory: path("data")),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }
}

extension EmbeddedCluster {
    /// Lets the leases of all that was in hand run out, as they do a minute after the end of whoever had it.
    func endLeases() async throws {
        try await withSession { session in
            for table in ["inbox", "deliveries"] {
                try session.execute(.unprepared("UPDATE \(identifier: table) SET run_at = now()"))
            }
        }
    }

    /// Lets the ten seconds pass after which endpoints that were made begin, and tells the services.
    func beginEndpoints() async throws {
        try await withSession { session in
            let networks = try session.query(
                """
                UPDATE endpoints SET state_at = state_at - interval '10 seconds',
                                     created_at = created_at - interval '10 seconds', revision = revision + 1
                RETURNING network_id
                """
            ) { row in try row.decode(0, as: String.self) }
            for network in Set(networks) { try session.announce("endpoints", in: network) }
        }
    }

    /// Lends a session of the superuser, whoever has started the server.
    func withSession<Value: Sendable>(
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        let configuration = try PostgresConfiguration(url: connectionString)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try await PostgresPool.withPool(configuration: configuration, logger: logger) { pool in
            try await pool.withConnection(body)
        }
    }
}

extension PostgresSession {
    /// Tells all services that something of a network was changed.
    func announce(_ topic: String, in network: String) throws {
        _ = try queryFirst("SELECT pg_notify('carillon', \("test\n\(topic) \(network)"))") { _ in true }
    }
}
