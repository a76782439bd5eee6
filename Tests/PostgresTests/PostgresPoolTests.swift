import CarillonTesting
import EmbeddedPostgres
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import Postgres

@Suite struct PostgresPoolTests {
    @Test func `connects at the first use, not before`() async throws {
        try await withTestPool { pool in
            #expect(pool.statistics == PoolStatistics(size: 0, idle: 0, opening: 0, waiting: 0))
            try await use(pool)
            #expect(pool.statistics == PoolStatistics(size: 1, idle: 1, opening: 0, waiting: 0))
        }
    }

    @Test func `a caller who waits too long is told so`() async throws {
        let waits = Mutex<[Duration]>([])
        try await withTestPool {
            $0.poolSize = 1
            $0.acquireTimeout = .milliseconds(200)
            $0.onWait = { wait in waits.withLock { $0.append(wait) } }
        } _: { pool in
            try await withHeldConnection(pool) {
                let error = await #expect(throws: PostgresError.self) { try await use(pool) }
                #expect(error?.kind == .timedOut)
                #expect(error?.isConnectivity == true)
            }
            try await use(pool)
        }
        #expect(waits.withLock { $0.contains { $0 >= .milliseconds(200) } })
    }

    @Test func `a caller beyond the waiting limit is turned away at once`() async throws {
        try await withTestPool {
            $0.poolSize = 1
            $0.maxWaiters = 1
        } _: { pool in
            let waiting = try await withHeldConnection(pool) {
                let waiting = Task { try await use(pool) }
                try await eventually("the first waits") { pool.statistics.waiting == 1 }
                let error = await #expect(throws: PostgresError.self) { try await use(pool) }
                #expect(error?.kind == .poolExhausted)
                return waiting
            }
            try await waiting.value
        }
    }

    @Test func `why nobody can connect is told on one line, without what libpq sets it in with`() async throws {
        // Nobody listens where there is no folder.
        var configuration = try PostgresConfiguration(url: "host=/nowhere/at/all dbname=app")
        configuration.acquireTimeout = .milliseconds(200)
        await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) { pool in
            let error = await #expect(throws: PostgresError.self) { try await use(pool) }
            let told = error?.description ?? ""
            #expect(told.contains("running locally"), "\(told)")
            #expect(!told.contains { $0 == "\t" || $0.isNewline }, "\(told)")
        }
    }

    @Test(arguments: [("dbname", PostgresError.Refusal.noDatabase), ("user", .noRole)])
    func `a server that lets nobody in is asked once`(what: String, refusal: PostgresError.Refusal) async throws {
        let string = try await TestDatabase.connectionString
        let configuration = try PostgresConfiguration(url: "\(string) \(what)=nothing")
        let log = Counter()
        let logger = Logger(label: "test") { _ in CountingLogHandler(counter: log) }
        await PostgresPool.withPool(configuration: configuration, logger: logger) { pool in
            let error = await #expect(throws: PostgresError.self) { try await use(pool) }
            #expect(error?.refusal == refusal)
            #expect(error?.kind == .connectionFailed)
        }
        #expect(log.value == 1)
    }

    @Test func `a cancelled waiter leaves the line`() async throws {
        try await withTestPool({ $0.poolSize = 1 }) { pool in
            try await withHeldConnection(pool) {
                let waiting = Task { try await use(pool) }
                try await eventually("it waits") { pool.statistics.waiting == 1 }
                waiting.cancel()
                let error = await #expect(throws: PostgresError.self) { try await waiting.value }
                #expect(error?.kind == .cancelled)
                #expect(pool.statistics.waiting == 0)
            }
        }
    }

    @Test func `callers share few connections`() async throws {
        try await withTestPool({ $0.poolSize = 3 }) { pool in
            let processIDs = try await withThrowingTaskGroup(of: Int32?.self) { group in
                for _ in 0..<200 { group.addTask { try await backend(pool) } }
                return try await group.reduce(into: Set<Int32?>()) { $0.insert($1) }
            }
            #expect(processIDs.count <= 3)
            #expect(pool.statistics.size <= 3)
        }
    }

    @Test func `a connection that was ended while idle is replaced unseen`() async throws {
        try await withTestPool({ $0.poolSize = 1 }) { pool in
            let first = try await backend(pool)
            try await terminate(first)
            let second = try await backend(pool)
            #expect(second != first)
        }
    }

    @Test func `a transaction on a connection that was ended while idle runs once`() async throws {
        try await withTestPool({ $0.poolSize = 1 }) { pool in
            try await terminate(try await backend(pool))
            let runs = Counter()
            try await pool.withTransaction { session in
                runs.increment()
                try session.execute("SELECT 1")
            }
            #expect(runs.value == 1)
        }
    }

    @Test func `a connection that ends under a statement surfaces, and the next caller gets another`() async throws {
        try await withTestPool({ $0.poolSize = 1 }) { pool in
            let error = await #expect(throws: PostgresError.self) {
                try await pool.withTransaction { session in
                    try session.execute("SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            #expect(error?.sqlState == .adminShutdown)
            #expect(error?.isConnectivity == true)
            try await use(pool)
        }
    }

    @Test func `a server that is not there is told as such`() async throws {
        var configuration = try PostgresConfiguration(url: "host=/nonexistent")
        configuration.acquireTimeout = .seconds(1)
        await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) { pool in
            let error = await #expect(throws: PostgresError.self) { try await use(pool) }
            #expect(error?.kind == .connectionFailed)
            #expect(error?.isConnectivity == true)
        }
    }

    @Test func `a host that is away is passed over`() async throws {
        let info = try await TestCluster.configuration().connectionInfo.values
        let socket = try #require(info["host"])
        let url = "host=/nonexistent,\(socket) dbname=carillon user=postgres"
        try await PostgresPool.withPool(
            configuration: try PostgresConfiguration(url: url),
            logger: TestDatabase.logger
        ) { pool in try await use(pool) }
    }

    @Test(arguments: [1, 2]) func `a host that refuses writes is passed over`(hosts: Int) async throws {
        let info = try await TestCluster.configuration().connectionInfo.values
        let socket = try #require(info["host"])
        let attributes = "dbname=carillon user=postgres options='-c default_transaction_read_only=on'"
        let list = Array(repeating: socket, count: hosts).joined(separator: ",")
        var configuration = try PostgresConfiguration(url: "host=\(list) \(attributes)")
        configuration.acquireTimeout = .milliseconds(500)
        try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) { pool in
            try await eventually("all are refused") {
                let error = await #expect(throws: PostgresError.self) { try await use(pool) }
                guard error?.kind == .connectionFailed else { return false }
                return error?.description.contains("a standby, or default_transaction_read_only is on") == true
            }
        }
    }

    @Test func `a restarted server is no error for later callers, and one that is away is`() async throws {
        let directory = "/tmp/carillon-restart-\(ProcessInfo.processInfo.processIdentifier)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cluster = EmbeddedCluster(
            configuration: TestCluster.configuration(directory: directory),
            logger: TestDatabase.logger
        )
        var configuration = try PostgresConfiguration(url: try await cluster.start())
        configuration.acquireTimeout = .seconds(3)
        try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) { pool in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { try await use(pool) } }
                try await group.waitForAll()
            }
            await cluster.stop()
            let error = await #expect(throws: PostgresError.self) { try await use(pool) }
            #expect(error?.isConnectivity == true)
            _ = try await cluster.start()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { try await use(pool) } }
                try await group.waitForAll()
            }
        }
        await cluster.stop()
    }

    @Test func `callers who wait while the server starts are served when it is up`() async throws {
        let directory = "/tmp/carillon-late-\(ProcessInfo.processInfo.processIdentifier)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cluster = EmbeddedCluster(
            configuration: TestCluster.configuration(directory: directory),
            logger: TestDatabase.logger
        )
        // A server that has no such database yet turns callers away.
        _ = try await cluster.start()
        await cluster.stop()
        var configuration = try PostgresConfiguration(url: cluster.connectionString)
        configuration.acquireTimeout = .seconds(30)
        try await PostgresPool.withPool(configuration: configuration, logger: TestDatabase.logger) { pool in
            async let early: Void = use(pool)
            try await eventually("it waits") { pool.statistics.waiting == 1 }
            _ = try await cluster.start()
            try await early
        }
        await cluster.stop()
    }

    @Test func `graceful shutdown turns away who waits and lets finish who works`() async throws {
        var configuration = try await TestCluster.configuration()
        configuration.poolSize = 1
        let pool = PostgresPool(configuration: configuration, logger: TestDatabase.logger)
        let group = ServiceGroup(services: [pool], logger: TestDatabase.logger)
        let (working, released) = (Latch(), Latch())
        let running = Task { try await group.run() }
        let worker = Task {
            try await pool.withConnection { session in
                working.signal()
                released.wait()
                return try session.first("SELECT 42", as: Int.self)
            }
        }
        try await working.opened()
        let waiter = Task { try await use(pool) }
        try await eventually("it waits") { pool.statistics.waiting == 1 }
        await group.triggerGracefulShutdown()
        let error = await #expect(throws: PostgresError.self) { try await waiter.value }
        #expect(error?.kind == .shuttingDown)
        released.signal()
        let result = try await worker.value
        #expect(result == 42)
        try await running.value
        let late = await #expect(throws: PostgresError.self) { try await use(pool) }
        #expect(late?.kind == .shuttingDown)
        #expect(pool.statistics.size == 0)
    }

    @Test func `shutdown does not wait for a server that is not there`() async throws {
        let configuration = try PostgresConfiguration(url: "host=/nonexistent")
        let pool = PostgresPool(configuration: configuration, logger: TestDatabase.logger)
        let running = Task { try await pool.run() }
        let waiter = Task { try await use(pool) }
        try await eventually("it waits") { pool.statistics.waiting == 1 }
        running.cancel()
        let error = await #expect(throws: PostgresError.self) { try await waiter.value }
        #expect(error?.kind == .shuttingDown)
        try await running.value
    }

    @Test func `a closed pool leaves no session behind`() async throws {
        let name = "closing"
        try await withTestPool({ $0.applicationName = name }) { pool in
            try await use(pool)
        }
        try await withTestPool { pool in
            try await eventually("the sessions end") {
                try await pool.first(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = \(name)",
                    as: Int.self
                ) == 0
            }
        }
    }

    /// Runs `body` while somebody else holds a connection.
    private func withHeldConnection<Value>(
        _ pool: PostgresPool,
        _ body: () async throws -> Value
    ) async throws -> Value {
        try await eventually("a connection is open") { (try? await use(pool)) != nil }
        let (held, released) = (Latch(), Latch())
        async let holder: Void = pool.withConnection { _ in
            held.signal()
            released.wait()
        }
        try await held.opened()
        let value: Value
        do {
            value = try await body()
        } catch {
            released.signal()
            try await holder
            throw error
        }
        released.signal()
        try await holder
        return value
    }
}
