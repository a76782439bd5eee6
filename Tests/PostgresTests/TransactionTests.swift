import CarillonTesting
import Testing

@testable import Postgres

@Suite(.pool()) struct TransactionTests {
    private let pool: PostgresPool = lent()

    init() async throws {
        try await pool.script(
            """
            CREATE TABLE counters (id int PRIMARY KEY, value bigint NOT NULL);
            INSERT INTO counters VALUES (1, 0), (2, 0)
            """
        )
    }

    private struct Abandoned: Error {}

    @Test func `a thrown error undoes everything and is thrown on`() async throws {
        await #expect(throws: Abandoned.self) {
            try await pool.withTransaction { session in
                try session.execute("UPDATE counters SET value = 9")
                throw Abandoned()
            }
        }
        let result = try await values(pool)
        #expect(result == [0, 0])
    }

    @Test func `a COMMIT that fails surfaces`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in
                try session.execute(
                    "ALTER TABLE counters ADD CONSTRAINT distinct_values UNIQUE (value) DEFERRABLE INITIALLY DEFERRED"
                )
            }
        }
        #expect(error?.sqlState == .uniqueViolation)

        try await pool.withConnection { session in
            try session.script(
                """
                UPDATE counters SET value = id;
                ALTER TABLE counters ADD CONSTRAINT distinct_values UNIQUE (value) DEFERRABLE INITIALLY DEFERRED
                """
            )
        }
        let runs = Counter()
        let deferred = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in
                try session.execute("UPDATE counters SET value = 5")
                runs.increment()
            }
        }
        #expect(runs.value == 1, "the violation shows at COMMIT only")
        #expect(deferred?.constraint == "distinct_values")
        let result = try await values(pool)
        #expect(result == [1, 2])
    }

    @Test func `a swallowed error does not look like a commit`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in
                try session.execute("UPDATE counters SET value = 9")
                try? session.script("SELECT 1 / 0")
            }
        }
        #expect(error?.sqlState == SQLState(rawValue: "22012"), "the error that doomed the transaction")
        let result = try await values(pool)
        #expect(result == [0, 0])
    }

    @Test func `a connection runs transactions between statements that are in none`() async throws {
        try await pool.withConnection { session in
            try session.execute("UPDATE counters SET value = 1 WHERE id = 1")
            #expect(throws: Abandoned.self) {
                try session.withTransaction { session in
                    try session.execute("UPDATE counters SET value = 9")
                    throw Abandoned()
                }
            }
            try session.withTransaction { _ in }
            try session.withTransaction(TransactionOptions(lockTimeout: .milliseconds(77))) { session in
                try session.execute("UPDATE counters SET value = 2 WHERE id = 2")
                let limit = try session.first("SHOW lock_timeout", as: String.self)
                #expect(limit == "77ms")
                #expect(throws: PostgresError.self) { try session.withTransaction { _ in } }
            }
            let limit = try session.first("SHOW lock_timeout", as: String.self)
            #expect(limit != "77ms")
        }
        let result = try await values(pool)
        #expect(result == [1, 2])
    }

    @Test(.pool { $0.poolSize = 1 }) func `what a session keeps goes with it when it is retired`() async throws {
        try await pool.withConnection { session in
            try session.script("SET lock_timeout = 77")
            session.retire()
        }
        let limit = try await pool.first("SHOW lock_timeout", as: String.self)
        #expect(limit != nil && limit != "77ms")
    }

    @Test func `a transaction that was ended by hand is an error`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in try session.script("COMMIT") }
        }
        #expect(error?.sqlState == .noActiveSQLTransaction)
    }

    @Test func `a transaction that a caller leaves open is not the next one's`() async throws {
        try await pool.withConnection { session in try session.script("BEGIN; UPDATE counters SET value = 9") }
        let result = try await values(pool)
        #expect(result == [0, 0])
    }

    @Test func `a read-only transaction refuses writes`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction(TransactionOptions(readOnly: true)) { session in
                try session.execute("UPDATE counters SET value = 9")
            }
        }
        #expect(error?.sqlState == .readOnlySQLTransaction)
    }

    @Test(.pool { $0.poolSize = 1 }) func `a server that accepts no writes any more is not written to`() async throws {
        try await pool.withConnection { session in _ = try session.execute("SET default_transaction_read_only = on") }
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in try session.execute("UPDATE counters SET value = 9") }
        }
        #expect(error?.sqlState == .readOnlySQLTransaction)
        // Another connection may have found another server.
        try await pool.withTransaction { session in try session.execute("UPDATE counters SET value = 9") }
    }

    @Test(arguments: TransactionOptions.Isolation.allCases)
    func `runs at the isolation asked for`(isolation: TransactionOptions.Isolation) async throws {
        let options = TransactionOptions(
            isolation: isolation,
            statementTimeout: .milliseconds(700),
            lockTimeout: .milliseconds(300)
        )
        let settings = try await pool.withTransaction(options) { session in
            try session.query(
                """
                SELECT current_setting(name) FROM unnest(\(["transaction_isolation", "statement_timeout",
                "lock_timeout"])) AS name
                """
            ) { row in try row.decode(0, as: String.self) }
        }
        #expect(settings == [isolation.rawValue.lowercased(), "700ms", "300ms"])
        let after = try await pool.first("SHOW statement_timeout", as: String.self)
        #expect(after == "15s")
    }

    @Test func `the victim of a deadlock runs again`() async throws {
        let latches = [Latch(), Latch()]
        let attempts = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (first, second) in [(1, 2), (2, 1)] {
                group.addTask {
                    let ownAttempts = Counter()
                    try await pool.withTransaction(TransactionOptions(retries: 3)) { session in
                        attempts.increment()
                        try session.execute("UPDATE counters SET value = value + 1 WHERE id = \(first)")
                        if ownAttempts.increment() == 1 {
                            latches[first - 1].signal()
                            latches[second - 1].wait()
                        }
                        try session.execute("UPDATE counters SET value = value + 1 WHERE id = \(second)")
                    }
                }
            }
            try await group.waitForAll()
        }
        let result = try await values(pool)
        #expect(result == [2, 2])
        #expect(attempts.value >= 3)
    }

    @Test func `without retries the deadlock surfaces`() async throws {
        let latches = [Latch(), Latch()]
        let failures = await withTaskGroup(of: PostgresError?.self) { group in
            for (first, second) in [(1, 2), (2, 1)] {
                group.addTask {
                    do {
                        try await pool.withTransaction { session in
                            try session.execute("UPDATE counters SET value = value + 1 WHERE id = \(first)")
                            latches[first - 1].signal()
                            latches[second - 1].wait()
                            try session.execute("UPDATE counters SET value = value + 1 WHERE id = \(second)")
                        }
                        return nil
                    } catch {
                        return error as? PostgresError
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(failures.compactMap(\.self).map(\.kind) == [.server(.deadlockDetected)])
        let result = try await values(pool)
        #expect(result == [1, 1])
    }

    @Test func `the loser of a serialization conflict runs again`() async throws {
        let latch = Latch(2)
        let attempts = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...2 {
                group.addTask {
                    let ownAttempts = Counter()
                    try await pool.withTransaction(TransactionOptions(isolation: .serializable, retries: 5)) {
                        session in
                        attempts.increment()
                        let sum = try session.first("SELECT sum(value)::bigint FROM counters", as: Int.self) ?? 0
                        if ownAttempts.increment() == 1 {
                            latch.signal()
                            latch.wait()
                        }
                        try session.execute("UPDATE counters SET value = \(sum + 1) WHERE id = \(id)")
                    }
                }
            }
            try await group.waitForAll()
        }
        let result = try await values(pool).sorted()
        #expect(result == [1, 2], "as if one had run after the other")
        #expect(attempts.value >= 3)
    }

    private func values(_ pool: PostgresPool) async throws -> [Int] {
        try await pool.all("SELECT value FROM counters ORDER BY id", as: Int.self)
    }
}
