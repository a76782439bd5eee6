import Foundation
import Logging
import Postgres
import Testing

@testable import EmbeddedPostgres

/// Citus as the machine has it: a coordinator, and two servers that tables are on.
struct CitusCluster: Sendable {
    /// Whether the machine has it.
    static let isInstalled: Bool = {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["pg_config", "--sharedir"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil, let data = try? output.fileHandleForReading.readToEnd() else { return false }
        process.waitUntilExit()
        let directory = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return FileSystem.exists("\(directory)/extension/citus.control")
    }()

    /// One server.
    struct Node: SessionLender {
        let scratch = Scratch()
        let host: String
        private let cluster: EmbeddedCluster
        private let data: String

        init() {
            data = scratch.path("server")
            host = EmbeddedPostgres.DataDirectory(path: data).socketDirectory
            cluster = EmbeddedCluster(
                configuration: .init(
                    dataDirectory: data,
                    settings: [
                        "shared_preload_libraries": "citus", "wal_level": "logical", "max_prepared_transactions": "100",
                        "max_worker_processes": "32", "citus.local_hostname": host,
                    ],
                    throwAwayDirectory: scratch.path
                ),
                logger: Logger(label: "node") { _ in SwiftLogNoOpLogHandler() }
            )
        }

        /// As libpq and Citus know it, in a URL.
        var address: String { "\(host.replacing("/", with: "%2F")):\(EmbeddedPostgres.DataDirectory.port)" }

        /// A way to a schema of its database.
        func url(_ schema: String, as role: String = "postgres", _ more: String = "") -> String {
            "postgres://\(role)@\(address)/carillon?\(more)options=-c%20search_path%3D\(schema)"
        }

        func start() async throws { _ = try await cluster.start() }

        func stop() async { await cluster.stop() }

        /// Ends it at once, as a power cut would.
        func kill() throws { try #require(PostmasterFile(dataDirectory: data)).killAll() }

        /// Lends a session of the superuser.
        func withSession<Value: Sendable>(
            _ body: @Sendable (borrowing PostgresSession) throws -> Value
        ) async throws -> Value {
            try await cluster.withSession(body)
        }

        func run(_ scripts: String...) async throws {
            try await withSession { session in
                for script in scripts { try session.script(.init(trusted: script)) }
            }
        }
    }

    let coordinator = Node()
    let workers = [Node(), Node()]

    private var nodes: [Node] { [coordinator] + workers }

    /// Starts all servers, and makes them one database.
    func start() async throws {
        for node in nodes {
            try await node.start()
            try await node.run("CREATE EXTENSION citus")
        }
        let port = EmbeddedPostgres.DataDirectory.port
        try await coordinator.run("SELECT citus_set_coordinator_host('\(coordinator.host)', \(port))")
        for worker in workers { try await coordinator.run("SELECT citus_add_node('\(worker.host)', \(port))") }
    }

    func stop() async {
        for node in nodes { await node.stop() }
    }

    /// The server that a schema's tables are on.
    func worker(of schema: String) async throws -> Node {
        let host = try await coordinator.first(
            .unprepared("SELECT nodename FROM citus_shards WHERE table_name = \("\(schema).networks")::regclass"),
            as: String.self
        )
        return try #require(workers.first { $0.host == host })
    }

    /// Moves a schema to the other server beside those who work on it.
    func move(_ schema: String) async throws {
        let current = try await worker(of: schema).host
        let other = try #require(workers.first { $0.host != current })
        let port = EmbeddedPostgres.DataDirectory.port
        try await coordinator.run(
            "SET statement_timeout = 0",
            "SELECT citus_schema_move('\(schema)', '\(other.host)', \(port))"
        )
    }
}
