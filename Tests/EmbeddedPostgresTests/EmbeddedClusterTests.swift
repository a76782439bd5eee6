import CarillonTesting
import Foundation
import Postgres
import Synchronization
import Testing

@testable import EmbeddedPostgres

@Suite(.temporaryPath) struct EmbeddedClusterTests {
    private let path = TemporaryPath.here

    @Test func `the first start makes a cluster, the second finds its data`() async throws {
        try await withCluster(at: path) { cluster in
            let version = try await text("SELECT current_setting('server_version_num')", on: cluster)
            #expect(version != nil)
            try await run("CREATE TABLE t (id int)", on: cluster)
        }
        try await withCluster(at: path) { cluster in
            try await run("INSERT INTO t VALUES (1)", on: cluster)
        }
    }

    @Test func `is reachable through a private socket only, and durable unless told otherwise`() async throws {
        let cluster = EmbeddedCluster(
            configuration: EmbeddedClusterConfiguration(dataDirectory: path),
            logger: silentLogger
        )
        _ = try await cluster.start()
        let settings = try await text(
            """
            SELECT string_agg(current_setting(name), ' ' ORDER BY name) FROM unnest(ARRAY['fsync',
            'listen_addresses', 'max_connections', 'synchronous_commit', 'unix_socket_permissions']) AS name
            """,
            on: cluster
        )
        #expect(settings == "on  100 on 0700")
        let names = try await text("SELECT current_database() || ' ' || current_user", on: cluster)
        #expect(names == "carillon postgres")
        let socketDirectory = FileSystem.attributes(of: cluster.directory.socketDirectory)
        #expect(socketDirectory?.permissions == 0o700)
        await cluster.stop()
    }

    @Test func `settings that are given win`() async throws {
        try await withCluster(at: path, settings: ["max_connections": "17"]) { cluster in
            let limit = try await text("SELECT current_setting('max_connections')", on: cluster)
            #expect(limit == "17")
        }
    }

    @Test func `stopping ends the server`() async throws {
        let processID = try await withCluster(at: path) { cluster in await cluster.processID }
        #expect(!ServerProcess.isAlive(try #require(processID)))
    }

    @Test func `starting twice changes nothing`() async throws {
        try await withCluster(at: path) { cluster in
            let before = await cluster.processID
            _ = try await cluster.start()
            let after = await cluster.processID
            #expect(before == after)
        }
    }

    @Test func `a server that a killed owner left behind is taken over`() async throws {
        let cluster = makeCluster(at: path)
        let orphan = try await startOrphan(of: cluster)
        _ = try await cluster.start()
        let (processID, isOwner) = (await cluster.processID, await cluster.ownsServer)
        #expect(processID == orphan.processID)
        #expect(isOwner)
        await cluster.stop()
        #expect(!orphan.isAlive)
    }

    @Test(.enabled(if: FileSystem.exists("/proc/self/stat"), "states of processes are told by /proc"))
    func `a killed server is started again when its last child is gone`() async throws {
        try await withCluster(at: path) { cluster in
            let child = try #require(
                try await text(
                    "SELECT pid::text FROM pg_stat_activity WHERE backend_type = 'checkpointer'",
                    on: cluster
                )
            )
            let (server, checkpointer) = (try #require(await cluster.processID), try #require(pid_t(child)))
            kill(checkpointer, SIGSTOP)
            kill(server, SIGKILL)
            while ServerProcess.isAlive(server) { try await Task.sleep(for: .milliseconds(1)) }
            let hasEnded = Mutex(false)
            async let start = cluster.start()
            async let isEarly = {
                try await Task.sleep(for: .milliseconds(300))
                defer { kill(checkpointer, SIGCONT) }
                return hasEnded.withLock(\.self)
            }()
            _ = try await start
            hasEnded.withLock { $0 = true }
            #expect(try await !isEarly)
            #expect(await cluster.processID != server)
            #expect(try await text("SELECT 'well'", on: cluster) == "well")
        }
    }

    @Test func `a second process uses the server and leaves it running`() async throws {
        try await withCluster(at: path) { owner in
            let guest = makeCluster(at: path)
            let connectionString = try await guest.start()
            #expect(connectionString == owner.connectionString)
            let isOwner = await guest.ownsServer
            #expect(!isOwner)
            await guest.stop()
            let answer = try await text("SELECT 'still here'", on: owner)
            #expect(answer == "still here")
        }
    }

    @Test func `a second process becomes the owner when the first is gone`() async throws {
        let guest = makeCluster(at: path)
        try await withCluster(at: path) { _ in _ = try await guest.start() }
        _ = try await guest.start()
        let isOwner = await guest.ownsServer
        #expect(isOwner)
        await guest.stop()
    }

    @Test(arguments: ["4194303", "\(ProcessInfo.processInfo.processIdentifier)", "nonsense", ""])
    func `a stale pid file does not keep the server from starting`(processID: String) async throws {
        let cluster = makeCluster(at: path)
        _ = try await cluster.start()
        await cluster.stop()
        let directory = cluster.directory
        let content = "\(processID)\n\(directory.cluster)\n1\n5432\n\(directory.socketDirectory)\n\n1 1\nready   \n"
        let file = directory.cluster + "/postmaster.pid"
        try FileSystem.write(processID == "" ? "" : content, to: file)
        let account = try directory.serverAccount(named: "postgres")
        if ServerAccount.isRoot { try FileSystem.changeOwner(of: file, to: account) }
        if processID == "" || processID == "nonsense" {
            // PostgreSQL itself refuses these, rightly: somebody else has written them.
            await #expect(throws: EmbeddedClusterError.self) { try await cluster.start() }
        } else {
            _ = try await cluster.start()
        }
        await cluster.stop()
    }

    @Test func `a half-made cluster is made anew`() async throws {
        try FileManager.default.createDirectory(
            atPath: path + "/cluster.partial/base",
            withIntermediateDirectories: true
        )
        try FileSystem.write("15\n", to: path + "/cluster.partial/PG_VERSION")
        try await withCluster(at: path) { cluster in
            let answer = try await text("SELECT 'made'", on: cluster)
            #expect(answer == "made")
            #expect(!FileSystem.exists(path + "/cluster.partial"))
        }
    }

    @Test func `a directory that is no cluster is left alone`() async throws {
        try FileManager.default.createDirectory(atPath: path + "/cluster", withIntermediateDirectories: true)
        try FileSystem.write("precious", to: path + "/cluster/thesis.txt")
        await #expect(throws: EmbeddedClusterError.notACluster(directory: path + "/cluster")) {
            try await withCluster(at: path) { _ in }
        }
        #expect(FileSystem.contents(of: path + "/cluster/thesis.txt", limit: 100) == "precious")
    }

    @Test(arguments: ["/" + String(repeating: "long", count: 25), "/with, comma and space", "/ümlaut"])
    func `a path that no socket can have is no obstacle`(suffix: String) async throws {
        try await withTemporaryPath(suffix: suffix) { path in
            let directory = try await withCluster(at: path) { cluster in
                let answer = try await text("SELECT 'here'", on: cluster)
                #expect(answer == "here")
                return cluster.directory.socketDirectory
            }
            #expect(directory.hasPrefix("/tmp/carillon-"))
            #expect(!FileSystem.exists(directory))
        }
    }

    @Test func `a socket directory of somebody else is refused`() async throws {
        try await withTemporaryPath(suffix: "/" + String(repeating: "long", count: 25)) { path in
            let directory = DataDirectory(path: path).socketDirectory
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            #expect(chmod(directory, 0o777) == 0)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let error = await #expect(throws: EmbeddedClusterError.self) { try await withCluster(at: path) { _ in } }
            #expect(error?.description.contains(directory) == true)
        }
    }

    @Test func `a machine without PostgreSQL is told what to install`() async throws {
        let cluster = EmbeddedCluster(
            configuration: EmbeddedClusterConfiguration(dataDirectory: path, binaryDirectory: "/nonexistent"),
            logger: silentLogger
        )
        let error = await #expect(throws: EmbeddedClusterError.self) { try await cluster.start() }
        #expect(error == .serverNotFound(searched: ["/nonexistent"]))
        #expect(error?.description.contains("apt-get install postgresql") == true)
    }

    @Test func `a cluster of another version is not touched`() async throws {
        try FileManager.default.createDirectory(atPath: path + "/cluster", withIntermediateDirectories: true)
        try FileSystem.write("9.6\n", to: path + "/cluster/PG_VERSION")
        let error = await #expect(throws: EmbeddedClusterError.self) { try await withCluster(at: path) { _ in } }
        guard case .versionMismatch(cluster: "9.6", server: _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a server that cannot start says why`() async throws {
        let error = await #expect(throws: EmbeddedClusterError.self) {
            try await withCluster(at: path, settings: ["shared_buffers": "nonsense"]) { _ in }
        }
        guard case .startFailed(let log)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(log.contains("shared_buffers"))
    }

    @Test(.enabled(if: ServerAccount.isRoot, "only root runs the server as somebody else"))
    func `root is told which directory the server's account cannot enter`() async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(chmod(path, 0o700) == 0)
        let error = await #expect(throws: EmbeddedClusterError.self) {
            try await withCluster(at: path + "/data") { _ in }
        }
        #expect(error == .untraversable(directory: path, dataDirectory: path + "/data", account: "postgres"))
        #expect(error?.description.contains("chmod o+x \(path)") == true)
    }

    @Test(.enabled(if: ServerAccount.isRoot, "only root can give a directory away"))
    func `root runs the server as the account that the cluster belongs to`() async throws {
        let nobody = try #require(ServerAccount.named("nobody"))
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try FileSystem.makePrivateDirectory(path + "/cluster")
        try FileSystem.changeOwner(of: path + "/cluster", to: nobody)
        try await withCluster(at: path) { cluster in
            let processID = try #require(await cluster.processID)
            #expect(FileSystem.attributes(of: "/proc/\(processID)")?.owner == nobody.userID)
        }
    }

    /// Starts a cluster's server as an owner would have who is gone by now.
    private func startOrphan(of cluster: EmbeddedCluster) async throws -> ServerProcess {
        _ = try await cluster.start()
        await cluster.stop()
        let directory = cluster.directory
        let account = try directory.serverAccount(named: "postgres")
        try directory.createSocketDirectory(for: account)
        let binaries = try await ServerBinaries.find(in: nil, for: directory.clusterVersion)
        let command = try ServerCommand(
            binaries.postgres,
            ServerSettings.arguments(for: directory, overrides: ["fsync": "off"]),
            as: account
        )
        let server = try await ServerProcess.launch(command, log: directory.log)
        try await eventually("it is ready") { directory.postmasterFile?.isReady == true }
        return server
    }
}
