import CarillonTesting
import Testing

@testable import Postgres

/// Statements that are sent together.
@Suite(.pool { $0.poolSize = 1 }) struct PipelineTests {
    private let pool: PostgresPool = lent()

    private static let table: SQL = "CREATE TABLE t (n integer PRIMARY KEY)"

    init() async throws { try await pool.script(Self.table) }

    private struct Undone: Error {}

    @Test func `statements of a pipeline run one after the other, as a part of the transaction`() async throws {
        await #expect(throws: Undone.self) {
            try await pool.withTransaction { session in
                let answers = try session.pipeline([
                    "INSERT INTO t SELECT generate_series(1, \(3))", "UPDATE t SET n = n + \(10) WHERE n > 1",
                    .unprepared("SELECT n FROM t WHERE n > \(5) ORDER BY n"),
                ])
                #expect(answers.map(\.affectedRows) == [3, 2, 2])
                #expect(try answers[2].map { row in try row.decode(0, as: Int.self) } == [12, 13])
                throw Undone()
            }
        }
        try await expect([], in: pool)
    }

    @Test
    func `what opens a transaction goes with its first statement, and its COMMIT with the last ones`() async throws {
        let proxy = try await TestDatabase.proxy()
        defer { proxy.close() }
        try await withTestPool(through: proxy.directory, { $0.poolSize = 1 }) { pool in
            try await pool.script(Self.table)
            let run = { @Sendable (session: borrowing PostgresSession) in
                let count = try session.first("SELECT count(*) FROM t", as: Int.self)
                let number = count ?? 0
                _ = try session.commit(after: [
                    "INSERT INTO t VALUES (\(number))", "INSERT INTO t VALUES (\(-number - 1))",
                ])
            }
            let options = TransactionOptions(statementTimeout: .seconds(10), lockTimeout: .seconds(1))
            // The first one prepares its statements, the second one what opens it.
            for _ in 1...2 { try await pool.withTransaction(options, run) }
            let before = proxy.requests
            try await pool.withTransaction(options, run)
            #expect(proxy.requests == before + 2, "all of it was prepared")
            try await expect([-5, -3, -1, 0, 2, 4], in: pool)
        }
    }

    @Test(arguments: [false, true])
    func `a transaction of one statement is that statement, within the transaction's limits`(isRead: Bool) async throws
    {
        let proxy = try await TestDatabase.proxy()
        defer { proxy.close() }
        try await withTestPool(through: proxy.directory, { $0.poolSize = 1 }) { pool in
            try await pool.script(Self.table)
            let statement: SQL =
                isRead
                ? "SELECT current_setting('lock_timeout'), count(*) FROM t"
                : "INSERT INTO t SELECT count(*) FROM t RETURNING current_setting('lock_timeout'), n::bigint"
            func run(_ lockTimeout: Duration?) async throws -> String? {
                let options = TransactionOptions(
                    isolation: isRead ? .repeatableRead : .readCommitted,
                    readOnly: isRead,
                    statementTimeout: lockTimeout,
                    lockTimeout: lockTimeout
                )
                return try await pool.withTransaction(options) { session in
                    try session.commit(after: [statement])[0].map { row in try row.decode(0, as: String.self) }.first
                }
            }
            let usual = try await run(nil)
            var before = (proxy.requests, proxy.statements)
            #expect(try await run(nil) == usual)
            #expect(proxy.requests - before.0 == 1)
            #expect(proxy.statements - before.1 == 1)
            #expect(try await run(.seconds(99)) == "99s", "prepares what sets limits")
            before = (proxy.requests, proxy.statements)
            #expect(try await run(.milliseconds(123_456)) == "123456ms")
            #expect(proxy.requests - before.0 == 1)
            #expect(proxy.statements - before.1 == 2, "one sets both limits")
            #expect(try await run(nil) == usual, "they end with it")
            try await expect(isRead ? [] : [0, 1, 2, 3, 4], in: pool)
        }
    }

    @Test func `a transaction of one statement that fails leaves nothing, and lets nothing follow`() async throws {
        let late: SQL = "ALTER TABLE t ADD CONSTRAINT late UNIQUE (n) DEFERRABLE INITIALLY DEFERRED"
        try await pool.script("ALTER TABLE t DROP CONSTRAINT t_pkey")
        try await pool.script(late)
        for statement: SQL in ["INSERT INTO t VALUES (1 / 0)", "INSERT INTO t VALUES (1), (1)"] {
            for options in [TransactionOptions(), TransactionOptions(lockTimeout: .seconds(60))] {
                let error = await #expect(throws: PostgresError.self) {
                    try await pool.withTransaction(options) { session in
                        _ = try? session.commit(after: [.unprepared(statement)])
                        _ = try? session.execute("INSERT INTO t VALUES (2)")
                        _ = try? session.commit(after: [.unprepared("INSERT INTO t VALUES (3)")])
                    }
                }
                #expect(error?.isOutcomeUnknown == false)
                try await expect([], in: pool)
            }
        }
        try await pool.withTransaction { session in _ = try session.commit(after: ["INSERT INTO t VALUES (\(1))"]) }
        try await pool.withTransaction { session in _ = try session.commit(after: ["INSERT INTO t VALUES (\(2))"]) }
        try await expect([1, 2], in: pool)
    }

    @Test func `a failure in the middle undoes the transaction, and the connection goes on`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in
                try session.execute("INSERT INTO t VALUES (0)")
                _ = try session.commit(after: [
                    "INSERT INTO t VALUES (\(1))", "INSERT INTO t VALUES (\(1))", "INSERT INTO t VALUES (\(2))",
                ])
            }
        }
        #expect(error?.sqlState == .uniqueViolation)
        #expect(error?.isOutcomeUnknown == false)
        try await expect([], in: pool)
        try await pool.withTransaction { session in _ = try session.commit(after: ["INSERT INTO t VALUES (\(1))"]) }
        try await expect([1], in: pool)
    }

    @Test func `a failure that is swallowed does not become a commit`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in
                _ = try? session.pipeline(["INSERT INTO t VALUES (1)", "SELECT 1 / 0"])
                try session.commit()
            }
        }
        #expect(error?.sqlState == SQLState(rawValue: "22012"))
        try await expect([], in: pool)
    }

    @Test func `nothing runs in a transaction that could not be opened`() async throws {
        // More milliseconds than the server takes.
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction(TransactionOptions(lockTimeout: .seconds(1 << 40))) { session in
                _ = try? session.execute("INSERT INTO t VALUES (1)")
                _ = try? session.execute("INSERT INTO t VALUES (2)")
                _ = try? session.commit(after: ["INSERT INTO t VALUES (3)"])
            }
        }
        #expect(error?.sqlState != nil)
        try await expect([], in: pool)
    }

    @Test func `after a COMMIT nothing is run, and nothing undone`() async throws {
        await #expect(throws: Undone.self) {
            try await pool.withTransaction { session in
                _ = try session.commit(after: ["INSERT INTO t VALUES (1)"])
                for more in [
                    { @Sendable (session: borrowing PostgresSession) in
                        _ = try session.execute("INSERT INTO t VALUES (2)")
                    },
                    { session in
                        _ = try session.commit(after: ["INSERT INTO t VALUES (3)"])
                    },
                ] {
                    let error = #expect(throws: PostgresError.self) { try more(session) }
                    #expect(error?.sqlState == .noActiveSQLTransaction)
                }
                throw Undone()
            }
        }
        try await expect([1], in: pool)
    }

    @Test func `outside of a transaction there is no pipeline`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { session in _ = try session.pipeline(["INSERT INTO t VALUES (1)"]) }
        }
        #expect(error?.sqlState == .noActiveSQLTransaction)
        try await expect([], in: pool)
    }

    @Test func `a transaction without a statement is none`() async throws {
        let one = try await pool.withTransaction { _ in 1 }
        #expect(one == 1)
        try await pool.withTransaction { session in _ = try session.commit() }
    }

    @Test func `large values and answers pass each other`() async throws {
        let text = String(repeating: "x", count: 3_000_000)
        let echoes: [SQL] = (0..<5).map { _ in "SELECT \(text)" }
        let lengths = try await pool.withTransaction { session in
            try session.commit(after: echoes).flatMap { answer in
                try answer.map { row in try row.decode(0, as: String.self).utf8.count }
            }
        }
        #expect(lengths == [Int](repeating: 3_000_000, count: 5))
    }

    @Test func `a changed table fails a pipeline once, and a server that forgot its plans too`() async throws {
        let run = { @Sendable (session: borrowing PostgresSession) in
            _ = try session.commit(after: ["SELECT * FROM t", "INSERT INTO t (n) SELECT count(*) FROM t"])
        }
        try await pool.withTransaction { session in try run(session) }
        for change: SQL in ["ALTER TABLE t ADD COLUMN m integer", "DISCARD PLANS; DEALLOCATE ALL"] {
            try await pool.withConnection { session in try session.script(change) }
            let before = try await numbers(pool)
            await #expect(throws: PostgresError.self) {
                try await pool.withTransaction { session in try run(session) }
            }
            try await expect(before, in: pool)
            try await pool.withTransaction { session in try run(session) }
        }
        try await expect([0, 1, 2], in: pool)
        try await pool.withConnection { session in try session.script("DEALLOCATE ALL") }
        try await pool.withTransaction(TransactionOptions(retries: 1)) { session in try run(session) }
        try await expect([0, 1, 2, 3], in: pool)
    }

    @Test func `what takes too long is cancelled by the server, and nothing of it stays`() async throws {
        let options = TransactionOptions(statementTimeout: .milliseconds(50))
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction(options) { session in
                _ = try session.commit(after: ["INSERT INTO t VALUES (1)", "SELECT pg_sleep(60)"])
            }
        }
        #expect(error?.sqlState == .queryCanceled)
        #expect(error?.isOutcomeUnknown == false)
        try await expect([], in: pool)
    }

    @Test func `a session that the server ends before the COMMIT has changed nothing`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in
                _ = try session.commit(after: [
                    "INSERT INTO t VALUES (1)", "SELECT pg_terminate_backend(pg_backend_pid())",
                ])
            }
        }
        #expect(error?.sqlState == .adminShutdown)
        #expect(error?.isOutcomeUnknown == false)
        try await expect([], in: pool)
    }

    @Test func `what fails only in the COMMIT is known to have failed`() async throws {
        try await pool.withConnection { session in
            try session.script("ALTER TABLE t ADD CONSTRAINT late UNIQUE (n) DEFERRABLE INITIALLY DEFERRED")
            try session.script("ALTER TABLE t DROP CONSTRAINT t_pkey")
        }
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in
                _ = try session.commit(after: ["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)"])
            }
        }
        #expect(error?.constraint == "late")
        #expect(error?.isOutcomeUnknown == false)
        try await expect([], in: pool)
    }

    private func numbers(_ pool: PostgresPool) async throws -> [Int] {
        try await pool.withConnection { session in
            try session.query(.unprepared("SELECT n::bigint FROM t ORDER BY n")) { row in try row.decode(0) }
        }
    }

    private func expect(_ expected: [Int], in pool: PostgresPool) async throws {
        let found = try await numbers(pool)
        #expect(found == expected)
    }
}
