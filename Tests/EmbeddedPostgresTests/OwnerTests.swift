import CarillonTesting
import Foundation
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

/// What becomes of servers whose owner is gone.
@Suite struct OwnerTests {
    @Test(.enabled(if: FileSystem.exists("/proc/self/stat"), "states of processes are told by /proc"))
    func `a server that is dead, but that nobody has asked for, is started anew`() async throws {
        try await withZombie { zombie in
            #expect(ServerProcess.exists(zombie))
            #expect(!ServerProcess.isAlive(zombie))
            try await withTemporaryPath { path in
                let cluster = makeCluster(at: path)
                _ = try await cluster.start()
                try await run("CREATE TABLE t AS SELECT 'kept' AS text; CHECKPOINT", on: cluster)
                await cluster.stop()
                try leave(zombie, as: cluster.directory)
                _ = try await cluster.start()
                #expect(try await text("SELECT text FROM t", on: cluster) == "kept")
                await cluster.stop()
            }
        }
    }

    @Test(.enabled(if: FileSystem.exists("/proc/self/stat"), "states of processes are told by /proc"))
    func `a guest does not take a dead owner's server for one that runs`() async throws {
        try await withZombie { zombie in
            try await withTemporaryPath { path in
                let cluster = makeCluster(at: path)
                _ = try await cluster.start()
                await cluster.stop()
                try leave(zombie, as: cluster.directory)
                #expect(cluster.directory.postmasterFile?.isAlive == false)
                #expect(cluster.directory.postmasterFile?.isInUse == true)
            }
        }
    }

    @Test func `a throw-away server ends with its owner, and its directory with it`() async throws {
        try await withTemporaryPath { path in
            let server = try await { () async throws -> ServerProcess in
                let cluster = makeCluster(at: path, isThrownAway: true)
                _ = try await cluster.start()
                let server = ServerProcess(processID: try #require(await cluster.processID))
                #expect(server.isAlive)
                // Gone without stopping it: the way to the guardian is closed as if the process had been killed.
                return server
            }()
            try await eventually("the server is gone") { !server.isAlive }
            try await eventually("its directory is gone") { !FileSystem.exists(path) }
        }
    }

    @Test
    func `a throw-away server that is stopped in good order leaves its directory, for the next start`() async throws {
        try await withTemporaryPath { path in
            let cluster = makeCluster(at: path, isThrownAway: true)
            for _ in 0..<2 {
                _ = try await cluster.start()
                #expect(try await text("SELECT 'up'", on: cluster) == "up")
                await cluster.stop()
                #expect(FileSystem.exists(cluster.directory.cluster))
            }
        }
    }

    @Test func `a guardian leaves a process alone that only has the server's id`() async throws {
        try await withTemporaryPath { path in
            let cluster = makeCluster(at: path)
            _ = try await cluster.start()
            await cluster.stop()
            let stranger = try await startSleeper()
            defer { end(stranger) }
            try leave(stranger, as: cluster.directory)
            #expect(cluster.directory.postmasterFile?.isAlive == false)
            do {
                _ = try await Guardian.start(over: cluster.directory.cluster, removing: [path])
            }
            try await eventually("the directory is gone") { !FileSystem.exists(path) }
            #expect(ServerProcess.isAlive(stranger))
        }
    }

    /// Lends the id of a child that has ended and is not asked for.
    private func withZombie(_ body: (pid_t) async throws -> Void) async throws {
        let zombie = try spawn("/bin/sh", ["/bin/sh", "-c", "exit 0"])
        defer { waitpid(zombie, nil, 0) }
        try await eventually("it has ended") {
            FileSystem.contents(of: "/proc/\(zombie)/stat", limit: 1024)?.contains(") Z ") == true
        }
        try await body(zombie)
    }
}
