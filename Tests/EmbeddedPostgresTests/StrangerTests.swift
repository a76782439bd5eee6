import CarillonTesting
import Postgres
import Testing

@testable import EmbeddedPostgres

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Processes that are no server, whatever they have of one.
@Suite(.temporaryPath) struct StrangerTests {
    private let path = TemporaryPath.here

    private func traces(
        isWithinReach: Bool = true,
        hasProcessTable: Bool = true,
        program: String? = nil,
        in directory: String? = nil,
        _ arguments: String...
    ) -> ProcessTraces {
        ProcessTraces(
            isWithinReach: isWithinReach,
            hasProcessTable: hasProcessTable,
            program: program,
            directory: directory,
            arguments: arguments
        )
    }

    @Test func `a process that is out of reach, or of which nothing is told, is somebody else's`() {
        #expect(!traces(isWithinReach: false).isServer(of: "/data"))
        #expect(!traces(isWithinReach: false, hasProcessTable: false).isServer(of: "/data"))
        #expect(!traces(isWithinReach: false, in: "/data", "postgres", "-D", "/data").isServer(of: "/data"))
        #expect(!traces().isServer(of: "/data"))
    }

    @Test func `a server is known by where it works, by how it was started, or where nothing is told by its id`() {
        let binary = "/usr/lib/postgresql/15/bin/postgres"
        #expect(traces(program: binary, in: "/data", binary).isServer(of: "/data"))
        #expect(traces(program: binary + " (deleted)", in: "/data").isServer(of: "/data"))
        #expect(traces(program: "/nix/.postgres-wrapped", in: "/data", "postgres").isServer(of: "/data"))
        #expect(!traces(program: binary, in: "/elsewhere", binary, "-D", "/data").isServer(of: "/data"))
        #expect(traces(program: "/usr/bin/qemu", in: "/data", "/usr/bin/qemu", binary).isServer(of: "/data"))
        #expect(!traces(program: "/bin/bash", in: "/data", "bash").isServer(of: "/data"))
        #expect(!traces(program: "/bin/su", in: "/data", "su", "postgres").isServer(of: "/data"))
        #expect(traces(in: nil, binary, "-D", "/data").isServer(of: "/data"))
        #expect(!traces(in: nil, binary, "-D", "/other").isServer(of: "/data"))
        #expect(traces(hasProcessTable: false).isServer(of: "/data"))
    }

    @Test(arguments: [
        ("postgres: checkpointer ", true), ("postgres: 15/main: walwriter", true), ("/opt/pg/bin/postgres", true),
        ("postgres_exporter", false), ("-bash", false), ("tail", false), ("", false),
    ])
    func `children of a server name themselves`(argument: String, isPostgres: Bool) {
        #expect(traces(argument).isPostgres == isPostgres)
    }

    @Test(.enabled(if: !ServerAccount.isRoot, "root may send signals to all"))
    func `after a restart of the machine somebody else's process may have the server's id`() async throws {
        let cluster = makeCluster(at: path)
        _ = try await cluster.start()
        await cluster.stop()
        try leave(1, as: cluster.directory)
        #expect(cluster.directory.postmasterFile?.isInUse == true)
        #expect(cluster.directory.postmasterFile?.isAlive == false)
        _ = try await cluster.start()
        #expect(try await text("SELECT 'up'", on: cluster) == "up")
        await cluster.stop()
    }

    @Test(.enabled(if: FileSystem.exists("/proc/self/stat"), "where processes work is told by /proc"))
    func `who stands in the cluster's folder does not keep the server from starting`() async throws {
        let cluster = makeCluster(at: path)
        _ = try await cluster.start()
        await cluster.stop()
        let stranger = try await startSleeper(in: cluster.directory.cluster)
        defer { end(stranger) }
        for former in [4_194_303, stranger] {
            try leave(former, as: cluster.directory)
            _ = try await cluster.start()
            #expect(try await text("SELECT 'up'", on: cluster) == "up")
            await cluster.stop()
        }
        #expect(ServerProcess.isAlive(stranger))
    }

    @Test(.enabled(if: FileSystem.exists("/proc/self/stat"), "where processes work is told by /proc"))
    func `what is left of a former server is named when it does not go`() async throws {
        let cluster = makeCluster(at: path)
        _ = try await cluster.start()
        await cluster.stop()
        let child = try await startSleeper(in: cluster.directory.cluster, as: "postgres: checkpointer")
        defer { end(child) }
        try leave(4_194_303, as: cluster.directory)
        let another = makeCluster(at: path, startTimeout: .zero)
        let error = await #expect(throws: EmbeddedClusterError.self) { try await another.start() }
        #expect(error == .occupied(directory: cluster.directory.cluster, processID: child))
        #expect(error?.description.contains("process \(child) ") == true)
    }

    @Test(.enabled(if: FileSystem.exists("/proc/self/stat"), "where processes work is told by /proc"))
    func `a server that recovers is waited for, however long it takes, and not stopped`() async throws {
        let cluster = makeCluster(at: path)
        _ = try await cluster.start()
        await cluster.stop()
        let server = try await startSleeper(in: cluster.directory.cluster, as: "postgres")
        defer { end(server) }
        try leave(server, as: cluster.directory, state: "starting")
        let log = CollectedLog()
        let another = makeCluster(at: path, startTimeout: .zero, logger: log.logger)
        let start = Task { try await another.start() }
        let message = "PostgreSQL is recovering, and is waited for"
        try await eventually("it says what it waits for") { log.lines(message).count > 2 }
        #expect(ServerProcess.isAlive(server))
        // It never gets any further, which is no recovery.
        try leave(server, as: cluster.directory, state: "stopping")
        let error = await #expect(throws: EmbeddedClusterError.self) { try await start.value }
        guard case .startTimedOut? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(ServerProcess.isAlive(server))
    }

    @Test(arguments: [
        ("FATAL:  the database system is starting up", true), ("FATAL:  the database system is in recovery mode", true),
        ("FATAL:  the database system is not yet accepting connections; DETAIL: …", true),
        ("FATAL:  the database system is shutting down", false), ("Connection refused", false),
    ])
    func `a server that starts over after a crash says that it recovers`(reason: String, isOfRecovery: Bool) {
        #expect(PostgresError(.connectionFailed, reason: reason).isOfRecovery == isOfRecovery)
    }
}
