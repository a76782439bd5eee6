import CarillonTesting
import Synchronization
import Testing

@testable import Postgres

@Suite(.pool()) struct InterruptionTests {
    private let pool: PostgresPool = lent()

    @Test(
        .pool {
            $0.statementTimeout = .milliseconds(50)
            $0.poolSize = 1
        }
    )
    func `a statement beyond its timeout is ended by the server`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { session in try session.execute("SELECT pg_sleep(60)") }
        }
        #expect(error?.kind == .server(.queryCanceled))
        #expect(error?.isConnectivity == true)
        try await expectUsable(pool)
    }

    @Test(.pool { $0.statementTimeout = .seconds(60) })
    func `a transaction may have a timeout of its own`() async throws {
        let options = TransactionOptions(statementTimeout: .milliseconds(50))
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction(options) { session in try session.execute("SELECT pg_sleep(60)") }
        }
        #expect(error?.sqlState == .queryCanceled)
    }

    @Test(.pool { $0.lockTimeout = .milliseconds(50) })
    func `waiting for a lock ends with the lock timeout`() async throws {
        let (locked, finished) = (Latch(), Latch())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await pool.withTransaction { session in
                    try session.execute("SELECT pg_advisory_xact_lock(4711)")
                    locked.signal()
                    finished.wait()
                }
            }
            group.addTask {
                defer { finished.signal() }
                let error = await #expect(throws: PostgresError.self) {
                    try await pool.withTransaction { session in
                        locked.wait()
                        try session.execute("SELECT pg_advisory_xact_lock(4711)")
                    }
                }
                #expect(error?.kind == .server(.lockNotAvailable))
            }
            try await group.waitForAll()
        }
    }

    @Test(.pool { $0.poolSize = 2 })
    func `a cancelled task interrupts its statement and leaves the connection usable`() async throws {
        let processID = try await backend(pool)
        let task = Task {
            try await pool.withTransaction { session in try session.execute("SELECT pg_sleep(60)") }
        }
        try await waitUntilSleeping(1, pool)
        let start = ContinuousClock.now
        task.cancel()
        let error = await #expect(throws: PostgresError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(ContinuousClock.now - start < .seconds(10), "pg_sleep would have taken 60 s")
        let processIDs = try await backends(2, pool)
        #expect(processIDs.contains(processID), "the connection was not replaced")
    }

    @Test func `a statement outside of a transaction is interrupted at its caller's deadline, and its connection kept`()
        async throws
    {
        let limit = Mutex<Duration?>(nil)
        try await withTestPool {
            $0.poolSize = 1
            // Nothing else ends it.
            $0.statementTimeout = .zero
            $0.deadlineGrace = .seconds(60)
            $0.deadline = { limit.withLock(\.self).map { .now + $0 } }
        } _: { pool in
            for statement: SQL in ["SELECT pg_sleep(3600)", .unprepared("SELECT pg_sleep(3600)")] {
                limit.withLock { $0 = nil }
                let processID = try await backend(pool)
                limit.withLock { $0 = .seconds(1) }
                var error: PostgresError?
                // Once more where the deadline had passed before anything was sent.
                repeat {
                    error = await #expect(throws: PostgresError.self) {
                        try await pool.withConnection { session in try session.execute(statement) }
                    }
                } while error?.kind == .deadlineExceeded
                #expect(error?.kind == .server(.queryCanceled))
                #expect(error?.isOutcomeUnknown == false)
                limit.withLock { $0 = nil }
                #expect(try await backend(pool) == processID)
            }
        }
    }

    @Test func `a task that is cancelled already sends nothing`() async throws {
        try await pool.withConnection { session in try session.script("CREATE TABLE t (id int)") }
        let task = Task {
            try? await Task.sleep(for: .seconds(3_600))
            try await pool.withConnection { session in try session.execute("INSERT INTO t VALUES (1)") }
        }
        task.cancel()
        let error = await #expect(throws: PostgresError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        try await expectNothing()
    }

    @Test func `cancellation between two statements undoes the transaction`() async throws {
        try await pool.withConnection { session in try session.script("CREATE TABLE t (id int)") }
        let (inserted, cancelled) = (Latch(), Latch())
        let task = Task {
            try await pool.withTransaction { session in
                try session.execute("INSERT INTO t VALUES (1)")
                inserted.signal()
                cancelled.wait()
            }
        }
        try await inserted.opened()
        task.cancel()
        cancelled.signal()
        let error = await #expect(throws: PostgresError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        try await expectNothing()
    }

    private func expectNothing() async throws {
        let count = try await pool.first("SELECT count(*) FROM t", as: Int.self)
        #expect(count == 0)
    }

    @Test(.pool { $0.poolSize = 2 }) func `a cancellation never hits another caller`() async throws {
        let outcomes = await withTaskGroup(of: (isCancelled: Bool, error: PostgresError?).self) { group in
            for number in 0..<400 {
                group.addTask {
                    let task = Task {
                        try await pool.withConnection { session in
                            try session.execute("SELECT count(*) FROM generate_series(1, 2000)")
                        }
                    }
                    let isCancelled = number.isMultiple(of: 2)
                    if isCancelled {
                        for _ in 0..<(number % 97) { await Task.yield() }
                        task.cancel()
                    }
                    do {
                        _ = try await task.value
                        return (isCancelled, nil)
                    } catch {
                        return (isCancelled, error as? PostgresError ?? PostgresError(.decoding))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 400)
        for outcome in outcomes {
            #expect(outcome.error == nil || (outcome.isCancelled && outcome.error?.kind == .cancelled))
        }
    }

    @Test(
        .pool {
            $0.statementTimeout = .milliseconds(100)
            $0.replyGrace = .milliseconds(100)
            $0.poolSize = 1
        }
    )
    func `a frozen server does not hold a caller for ever`() async throws {
        let processID = try await backend(pool)
        stop(processID)
        defer { resume(processID) }
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { session in try session.execute("SELECT 1") }
        }
        #expect(error?.kind == .connectionLost)
        let result = try await backend(pool)
        #expect(result != processID)
    }

    private func expectUsable(_ pool: PostgresPool) async throws {
        let result = try await pool.withConnection { try $0.queryFirst("SELECT 1") { _ in true } }
        #expect(result == true)
    }

    private func backend(_ pool: PostgresPool) async throws -> Int32 { try await backends(1, pool).first ?? 0 }

    /// The server processes of so many connections at once.
    private func backends(_ count: Int, _ pool: PostgresPool) async throws -> Set<Int32> {
        let latch = Latch(count)
        return try await withThrowingTaskGroup(of: Int32?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await pool.withConnection { session in
                        latch.signal()
                        latch.wait()
                        return try session.first("SELECT pg_backend_pid()", as: Int32.self)
                    }
                }
            }
            return try await group.reduce(into: []) { processIDs, processID in
                if let processID { processIDs.insert(processID) }
            }
        }
    }

    private func waitUntilSleeping(_ count: Int, _ pool: PostgresPool) async throws {
        try await eventually("pg_sleep runs") {
            try await pool.first(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE application_name = current_setting('application_name') AND wait_event = 'PgSleep'
                """,
                as: Int.self
            ) == count
        }
    }
}
