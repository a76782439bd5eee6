import CarillonTesting
import Testing

@testable import Postgres

@Suite(.pool()) struct SessionTests {
    private let pool: PostgresPool = lent()

    @Test func `a zero byte in text is refused before anything is sent`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withTransaction { session in
                try session.execute("CREATE TABLE t (text text)")
                do {
                    try session.execute("INSERT INTO t VALUES (\("a\0b"))")
                } catch {
                    // The transaction is still sound: the server never saw the statement.
                    try session.execute("INSERT INTO t VALUES ('sound')")
                    throw error
                }
            }
        }
        #expect(error?.kind == .encoding)
    }

    @Test func `a violated key tells its constraint and quotes no value`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { session in
                try session.script("CREATE TABLE t (email text CONSTRAINT t_email_key UNIQUE)")
                try session.execute("INSERT INTO t VALUES (\("secret@example.com"))")
                try session.execute("INSERT INTO t VALUES (\("secret@example.com"))")
            }
        }
        #expect(error?.kind == .server(.uniqueViolation))
        #expect(error?.sqlState == .uniqueViolation)
        #expect(error?.constraint == "t_email_key")
        #expect(error?.table == "t")
        #expect(error?.description.contains("secret") == false)
        #expect(error?.debugDescription.contains("secret@example.com") == true)
    }

    @Test func `a syntax error is the server's to tell`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { session in try session.execute("SELEC 1") }
        }
        #expect(error?.sqlState?.rawValue == "42601")
    }

    @Test(
        .pool {
            $0.statementTimeout = .milliseconds(1234)
            $0.lockTimeout = .milliseconds(2345)
            $0.idleInTransactionTimeout = .milliseconds(3456)
            $0.applicationName = "sessions"
        }
    )
    func `every session has its limits and speaks UTF-8 and UTC`() async throws {
        let settings = try await pool.all(
            """
            SELECT current_setting(name) FROM unnest(\(["statement_timeout", "lock_timeout",
            "idle_in_transaction_session_timeout", "application_name", "client_encoding", "TimeZone"])) AS name
            """,
            as: String.self
        )
        #expect(settings == ["1234ms", "2345ms", "3456ms", "sessions", "UTF8", "UTC"])
    }

    @Test func `tells how many rows a statement has touched`() async throws {
        let counts = try await pool.withConnection { session in
            [
                try session.execute("CREATE TABLE t (id int)"),
                try session.execute("INSERT INTO t SELECT generate_series(1, 5)"),
                try session.execute("UPDATE t SET id = id + 10 WHERE id > \(3)"),
                try session.execute("DELETE FROM t WHERE id = \(99)"),
            ]
        }
        #expect(counts == [0, 5, 2, 0])
    }

    @Test func `reads no row, the first row, and all rows`() async throws {
        try await pool.withConnection { session in
            let series: SQL = "SELECT n FROM generate_series(1, 3) AS n"
            #expect(try session.queryFirst(series + " WHERE n > \(5)") { try $0.decode(0, as: Int.self) } == nil)
            #expect(try session.queryFirst(series) { try $0.decode(0, as: Int.self) } == 1)
            #expect(try session.query(series) { try $0.decode(0, as: Int.self) } == [1, 2, 3])
            var sum = 0
            try session.forEach(series) { row in sum += try row.decode(0, as: Int.self) }
            #expect(sum == 6)
        }
    }

    @Test func `a nested statement inside a visit does not disturb it`() async throws {
        let products = try await pool.withConnection { session in
            try session.query("SELECT n FROM generate_series(1, 3) AS n") { row in
                let number = try row.decode(0, as: Int.self)
                let square = try session.first("SELECT \(number) * \(number)", as: Int.self)
                return (square ?? 0) + (try row.decode(0, as: Int.self))
            }
        }
        #expect(products == [2, 6, 12])
    }

    @Test func `a script runs all of its statements or none`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { session in
                try session.script("CREATE TABLE a (id int); CREATE TABLE b (id nonsense); CREATE TABLE c (id int)")
            }
        }
        #expect(error?.kind == .server(SQLState(rawValue: "42704")))
        let tables = try await pool.withConnection { session in
            try session.script("CREATE TABLE d (id int); CREATE TABLE e (id int); -- done")
            return try session.query(
                "SELECT relname FROM pg_class WHERE relnamespace = current_schema::regnamespace ORDER BY 1"
            ) { row in try row.decode(0, as: String.self) }
        }
        #expect(tables == ["d", "e"])
    }

    @Test func `a script takes no parameters`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withConnection { session in try session.script("SELECT \(1)") }
        }
        #expect(error?.kind == .encoding)
    }

    @Test(
        .pool {
            $0.poolSize = 1
            $0.statementCacheCapacity = 3
        }
    )
    func `prepares each statement once, and a connection that left many behind is replaced`() async throws {
        let former = try await pool.withConnection { session in
            for _ in 0..<3 {
                for number in 1...2 { try session.execute("SELECT \(1) /* \(identifier: "\(number)") */") }
            }
            #expect(try prepared(session) == 3)
            for number in 1...10 { try session.execute("SELECT \(1) /* \(identifier: "\(number)") */") }
            return try process(session)
        }
        let (other, count) = try await pool.withConnection { session in (try process(session), try prepared(session)) }
        #expect(other != former)
        #expect(count <= 3)
    }

    @Test(.pool { $0.poolSize = 1 }) func `what opens a transaction is prepared once, whatever its limits`()
        async throws
    {
        for seconds in 1...3 {
            let options = TransactionOptions(statementTimeout: .seconds(seconds), lockTimeout: .milliseconds(20))
            let limits = try await pool.withTransaction(options) { session in
                try session.first(
                    "SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout')",
                    as: String.self
                )
            }
            #expect(limits == "\(seconds)s 20ms")
        }
        // BEGIN, the limits, the question above, and this one.
        #expect(try await pool.withConnection { session in try prepared(session) } == 4)
    }

    @Test(
        .pool {
            $0.poolSize = 1
            $0.preparesStatements = false
        }
    )
    func `nothing is prepared where statements are sent whole, in transactions and pipelines neither`() async throws {
        try await pool.withTransaction { session in
            for number in 1...3 { try session.execute("SELECT \(number)") }
            try session.pipeline(["SELECT \(1)", "SELECT \(2)"])
            _ = try session.commit(after: ["SELECT \(3)"])
        }
        try await pool.withConnection { session in
            for number in 1...3 { try session.execute("SELECT \(number)") }
            #expect(try prepared(session) == 0)
        }
    }

    @Test(.pool { $0.poolSize = 2 }) func `names of statements are each connection's own`() async throws {
        let names = try await withThrowingTaskGroup(of: Set<String>.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await pool.withConnection { session in
                        try session.execute("SELECT \(1)")
                        let names = try session.query(
                            .unprepared("SELECT name FROM pg_prepared_statements")
                        ) { row in try row.decode(0, as: String.self) }
                        // The other one gets another connection, also when it comes later.
                        session.retire()
                        return Set(names)
                    }
                }
            }
            return try await group.reduce(into: [Set<String>]()) { $0.append($1) }
        }
        #expect(names.allSatisfy { $0.count == 1 })
        #expect(names.reduce(into: Set()) { $0.formUnion($1) }.count == 2)
    }

    @Test func `without a pooler the server itself answers, and all settings are in force`() async throws {
        let session = try await pool.readSessionSettings()
        #expect(session.lacking.isEmpty && session.remedy.isEmpty, "\(session.settings)")
        #expect(session.settings.contains { $0.name == "search_path" && $0.found?.hasPrefix("test_") == true })
        #expect(session.settings.contains { $0.name == "statement_timeout" && $0.found == "15s" })
        let isolation = session.settings.first { $0.name == "default_transaction_isolation" }
        #expect(isolation?.found == "read committed")
        #expect(try await pool.poolMode() == .none)
    }

    @Test func `what is unprepared is not kept`() async throws {
        try await pool.withConnection { session in
            for number in 1...5 { try session.execute(.unprepared("SELECT \(number)")) }
            #expect(try prepared(session) == 1)
        }
    }

    @Test(.pool { $0.poolSize = 1 }) func `a table that changes does not break prepared statements`() async throws {
        let counts = try await pool.withConnection { session in
            try session.script("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
            let before = try session.query("SELECT * FROM t") { row in row.columnCount }
            try session.script("ALTER TABLE t ADD COLUMN b int")
            return before + (try session.query("SELECT * FROM t") { row in row.columnCount })
        }
        #expect(counts == [1, 2])
    }

    @Test(.pool { $0.poolSize = 1 }) func `a session that was discarded prepares anew`() async throws {
        let values = try await pool.withConnection { session in
            let before = try session.query("SELECT \(1)") { row in try row.decode(0, as: Int.self) }
            try session.script("DISCARD ALL")
            return before + (try session.query("SELECT \(2)") { row in try row.decode(0, as: Int.self) })
        }
        #expect(values == [1, 2])
    }

    @Test(.pool { $0.poolSize = 1 }) func `COPY is refused, and the connection replaced`() async throws {
        await #expect(throws: PostgresError.self) {
            try await pool.withConnection { session in try session.script("COPY (SELECT 1) TO STDOUT") }
        }
        let result = try await pool.withConnection { try $0.queryFirst("SELECT 1") { _ in true } }
        #expect(result == true)
    }

    private func process(_ session: borrowing PostgresSession) throws -> Int32? {
        try session.first(.unprepared("SELECT pg_backend_pid()"))
    }

    private func prepared(_ session: borrowing PostgresSession) throws -> Int {
        try session.first("SELECT count(*) FROM pg_prepared_statements", as: Int.self) ?? -1
    }
}
