import CarillonTesting
import Synchronization
import Testing

@testable import Postgres

/// What a caller is told when nobody can know whether a commit took place, and that it is told in time.
@Suite struct LostCommitTests {
    /// What the pool is told and asked on behalf of a caller.
    private final class Caller: Sendable {
        let timeLeft = Mutex<Duration?>(nil)
        let writes = Counter()
        /// The backend that was frozen.
        let frozen = Mutex<Int32>(0)

        func follow(_ configuration: inout PostgresConfiguration) {
            configuration.deadline = { [self] in timeLeft.withLock { $0.map { .now + $0 } } }
            configuration.onWrite = { [self] in writes.increment() }
        }
    }

    @Test(arguments: [(FaultyProxy.Fault.requestLost, 0), (.answerLost, 1), (.answerHeld, 1)], [false, true])
    func `a commit without an answer has an unknown outcome, whether it took effect or not`(
        fault: (FaultyProxy.Fault, rows: Int),
        isPipelined: Bool
    ) async throws {
        try await withTable(byProxy: true) { pool, caller, proxy in
            proxy?.arm(fault.0, isForCommit: true)
            caller.timeLeft.withLock { $0 = .seconds(1) }
            let runs = Counter()
            let error = await #expect(throws: PostgresError.self) {
                try await pool.withTransaction(TransactionOptions(retries: 5)) { session in
                    runs.increment()
                    if isPipelined {
                        try session.commit(after: ["INSERT INTO t VALUES (1)"])
                    } else {
                        try session.execute("INSERT INTO t VALUES (1)")
                    }
                }
            }
            #expect(error?.kind == .connectionLost)
            #expect(error?.isOutcomeUnknown == true)
            #expect(error?.isConnectivity == true)
            #expect(runs.value == 1, "what may have taken effect is not run again")
            #expect(caller.writes.value == 1)
            caller.timeLeft.withLock { $0 = nil }
            try await expectRows(fault.rows, pool)
        }
    }

    @Test func `a server that freezes in the commit does not keep its caller beyond the deadline`() async throws {
        try await expectFailure(isOutcomeUnknown: true, rows: 1) { pool, caller in
            try await pool.withTransaction { session in
                try session.execute("INSERT INTO t VALUES (1)")
                freeze(session, noting: caller)
            }
        }
    }

    @Test func `a server that freezes before the commit has changed nothing`() async throws {
        try await expectFailure(.connectionLost, isOutcomeUnknown: false, writes: 0, rows: 0) { pool, caller in
            try await pool.withTransaction { session in
                try session.execute("INSERT INTO t VALUES (1)")
                freeze(session, noting: caller)
                try session.execute("INSERT INTO t VALUES (2)")
            }
        }
    }

    @Test func `a statement of its own that a frozen server does not answer has an unknown outcome, at the deadline`()
        async throws
    {
        try await expectFailure(.connectionLost, isOutcomeUnknown: true, writes: 2, rows: 2) { pool, caller in
            try await pool.withConnection { session in
                try session.execute("INSERT INTO t VALUES (1)")
                freeze(session, noting: caller)
                try session.execute("INSERT INTO t VALUES (1)")
            }
        }
    }

    @Test func `what cannot even be sent to a frozen server ends at the deadline`() async throws {
        let long = [UInt8](repeating: 0, count: 16 << 20)
        try await expectFailure(isOutcomeUnknown: false) { pool, caller in
            try await pool.withTransaction { session in
                _ = try session.execute("SELECT 1")
                freeze(session, noting: caller)
                try session.execute("SELECT length(\(long))")
            }
        }
    }

    @Test func `what the server refuses in a commit, or cancels before it, has changed nothing`() async throws {
        try await withTable { pool, caller, _ in
            try await pool.withTransaction { session in
                try session.script("ALTER TABLE t ADD CONSTRAINT once UNIQUE (id) DEFERRABLE INITIALLY DEFERRED")
            }
            caller.writes.reset()
            let refused = await #expect(throws: PostgresError.self) {
                try await pool.withTransaction { session in try session.execute("INSERT INTO t VALUES (0), (0)") }
            }
            #expect(refused?.sqlState == .uniqueViolation)
            #expect(refused?.isOutcomeUnknown == false)
            caller.timeLeft.withLock { $0 = .seconds(1) }
            let slow = await #expect(throws: PostgresError.self) {
                try await pool.withTransaction { session in
                    try session.execute("INSERT INTO t VALUES (1)")
                    try session.execute("SELECT pg_sleep(60)")
                }
            }
            #expect(slow?.isConnectivity == true)
            #expect(slow?.isOutcomeUnknown == false)
            #expect(caller.writes.value == 0)
            caller.timeLeft.withLock { $0 = nil }
            try await expectRows(0, pool)
        }
    }

    @Test func `nothing is begun after the deadline`() async throws {
        try await withTable { pool, caller, _ in
            caller.timeLeft.withLock { $0 = .seconds(-1) }
            let error = await #expect(throws: PostgresError.self) {
                try await pool.withTransaction { session in try session.execute("INSERT INTO t VALUES (1)") }
            }
            #expect([.deadlineExceeded, .timedOut].contains(error?.kind))
            #expect(error?.isOutcomeUnknown == false)
            caller.timeLeft.withLock { $0 = .milliseconds(200) }
            let late = await #expect(throws: PostgresError.self) {
                try await pool.withTransaction { session in
                    try session.execute("INSERT INTO t VALUES (1)")
                    let end = ContinuousClock.now + .milliseconds(200)
                    while ContinuousClock.now < end {}
                }
            }
            #expect(late?.isOutcomeUnknown == false)
            caller.timeLeft.withLock { $0 = nil }
            try await expectRows(0, pool)
        }
    }

    @Test func `only what may last counts as written`() async throws {
        try await withTable { pool, caller, _ in
            let before = caller.writes.value
            try await pool.withConnection { session in try session.execute("SELECT id FROM t") }
            try await pool.withTransaction(TransactionOptions(readOnly: true)) { session in
                try session.execute("SELECT id FROM t")
            }
            #expect(caller.writes.value == before)
            try await pool.withConnection { session in try session.execute("INSERT INTO t VALUES (1)") }
            try await pool.withTransaction { session in
                try session.execute("INSERT INTO t VALUES (2)")
                try session.execute("INSERT INTO t VALUES (3)")
            }
            #expect(caller.writes.value == before + 2)
        }
    }

    /// Expects of work on a server that is frozen by it that it fails at the deadline, and what is told and left of it.
    private func expectFailure(
        _ kind: PostgresError.Kind? = nil,
        isOutcomeUnknown: Bool,
        writes: Int? = nil,
        rows: Int? = nil,
        _ work: (PostgresPool, Caller) async throws -> Void
    ) async throws {
        try await withTable { pool, caller, _ in
            caller.timeLeft.withLock { $0 = .seconds(1) }
            let start = ContinuousClock.now
            let error = await #expect(throws: PostgresError.self) { try await work(pool, caller) }
            #expect(ContinuousClock.now - start < .seconds(10), "a statement may take 15 s, and its answer 5 s more")
            if let kind { #expect(error?.kind == kind) }
            #expect(error?.isOutcomeUnknown == isOutcomeUnknown)
            if let writes { #expect(caller.writes.value == writes) }
            resume(caller.frozen.withLock(\.self))
            caller.timeLeft.withLock { $0 = nil }
            if let rows { try await expectRows(rows, pool) }
        }
    }

    private func withTable(
        byProxy: Bool = false,
        _ body: (PostgresPool, Caller, FaultyProxy?) async throws -> Void
    ) async throws {
        let (caller, proxy) = (Caller(), byProxy ? try await TestDatabase.proxy() : nil)
        defer { proxy?.close() }
        try await withTestPool(through: proxy?.directory, { caller.follow(&$0) }) { pool in
            try await pool.withTransaction { session in try session.script("CREATE TABLE t (id int)") }
            caller.writes.reset()
            try await body(pool, caller, proxy)
        }
    }

    private func freeze(_ session: borrowing PostgresSession, noting caller: Caller) {
        let processID = try? session.first("SELECT pg_backend_pid()", as: Int32.self)
        guard let processID else {
            Issue.record("the backend does not say which it is")
            return
        }
        caller.frozen.withLock { $0 = processID }
        stop(processID)
    }

    /// Passes when so many rows are there, once what was frozen has gone its way.
    private func expectRows(_ count: Int, _ pool: PostgresPool) async throws {
        try await eventually("nothing is under way any more") {
            try await pool.first(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()
                    AND state <> 'idle'
                """,
                as: Int.self
            ) == 0
        }
        // A statement that waited in the socket of a frozen server is carried out only now.
        try await eventually("so many rows are there") {
            try await pool.first("SELECT count(*) FROM t", as: Int.self) == count
        }
    }
}
