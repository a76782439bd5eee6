import CarillonTesting
import Postgres
import ServiceLifecycle
import Testing

@testable import EmbeddedPostgres

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite(.temporaryPath) struct EmbeddedClusterServiceTests {
    private let path = TemporaryPath.here

    @Test func `graceful shutdown stops the server`() async throws {
        let cluster = makeCluster(at: path)
        let processID = try await withService(cluster) { await cluster.processID }
        #expect(!ServerProcess.isAlive(try #require(processID)))
    }

    @Test func `a killed server is started again, and has all that was committed`() async throws {
        let cluster = makeCluster(at: path)
        try await withService(cluster) {
            try await run("CREATE TABLE t AS SELECT 'kept' AS text", on: cluster)
            let before = try #require(await cluster.processID)
            kill(before, SIGKILL)
            try await eventually("another server runs") {
                let after = await cluster.processID
                return after != before && cluster.directory.postmasterFile?.isReady == true
            }
            try await eventually("it answers") { (try? await text("SELECT text FROM t", on: cluster)) == "kept" }
        }
    }

    @Test func `a server is started again also where its log cannot be kept small, which is said once`() async throws {
        let log = CollectedLog()
        let cluster = makeCluster(at: path, logger: log.logger)
        try await withService(cluster) {
            let file = cluster.directory.log.path
            try FileSystem.makePrivateDirectory(file + ".old")
            let before = try #require(await cluster.processID)
            try FileSystem.write(String(repeating: "x", count: ServerLog.limit + 1), to: file)
            kill(before, SIGKILL)
            try await eventually("another server runs") {
                let after = await cluster.processID
                return after != before && cluster.directory.postmasterFile?.isReady == true
            }
            try await eventually("it answers") { (try? await text("SELECT 'up'", on: cluster)) == "up" }
            #expect(FileSystem.attributes(of: file).map { $0.size < ServerLog.limit } == true)
        }
        #expect(log.lines("Cannot trim the log of PostgreSQL").count == 1)
    }

    @Test func `the end of a server is told to whoever waits to look after it`() async throws {
        let cluster = makeCluster(at: path)
        _ = try await cluster.start()
        let server = try #require(await cluster.processID)
        let resting = Task { try await cluster.rest(atMost: .seconds(3_600)) }
        kill(server, SIGKILL)
        try await resting.value
        await cluster.stop()
    }

    @Test func `a guest keeps the server going when its owner ends`() async throws {
        let (owner, guest) = (makeCluster(at: path), makeCluster(at: path))
        _ = try await owner.start()
        try await withService(guest) {
            let isOwner = await guest.ownsServer
            #expect(!isOwner)
            await owner.stop()
            try await eventually("the guest owns it") { await guest.ownsServer }
            try await eventually("it answers") { (try? await text("SELECT 'here'", on: guest)) == "here" }
        }
        #expect(guest.directory.postmasterFile?.isAlive != true)
    }

    @Test func `a start that is cut off while the server does not answer is no failure`() async throws {
        let (owner, guest) = (makeCluster(at: path), makeCluster(at: path))
        _ = try await owner.start()
        let server = try #require(await owner.processID)
        kill(server, SIGSTOP)
        defer { kill(server, SIGCONT) }
        let group = ServiceGroup(services: [guest], logger: silentLogger)
        let running = Task { try await group.run() }
        // By then it waits for a connection.
        try await Task.sleep(for: .milliseconds(200))
        await group.triggerGracefulShutdown()
        await #expect(throws: Never.self) { try await running.value }
        kill(server, SIGCONT)
        await owner.stop()
    }

    @Test func `a first start that fails ends the service`() async throws {
        let cluster = EmbeddedCluster(
            configuration: EmbeddedClusterConfiguration(dataDirectory: path, binaryDirectory: "/nonexistent"),
            logger: silentLogger
        )
        await #expect(throws: EmbeddedClusterError.self) { try await cluster.run() }
    }

    /// Runs a cluster as a service until `body` is done.
    private func withService<Value>(
        _ cluster: EmbeddedCluster,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let group = ServiceGroup(services: [cluster], logger: silentLogger)
        let running = Task { try await group.run() }
        let value: Value
        do {
            try await eventually("it answers") { (try? await text("SELECT 'up'", on: cluster)) == "up" }
            value = try await body()
        } catch {
            await group.triggerGracefulShutdown()
            try await running.value
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running.value
        return value
    }
}
