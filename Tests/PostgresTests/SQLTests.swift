import Testing

@testable import Postgres

@Suite struct SQLTests {
    @Test func `interpolated values become parameters`() {
        let sql: SQL = "SELECT * FROM t WHERE a = \(1) AND b = \("x'; DROP TABLE t; --")"
        #expect(sql.text == "SELECT * FROM t WHERE a = $1 AND b = $2")
        #expect(sql.parameters.types == [PostgresType.int8.rawValue, PostgresType.text.rawValue])
    }

    @Test func `a literal without values has no parameters`() {
        let sql: SQL = "SELECT 1"
        #expect(sql.text == "SELECT 1")
        #expect(sql.parameters.count == 0)
    }

    @Test func `composition numbers parameters on`() {
        let condition: SQL = " WHERE a = \(1) AND b = \(2)"
        var sql: SQL = "UPDATE t SET c = \("x")" + condition
        sql += " AND d = \(true)"
        #expect(sql.text == "UPDATE t SET c = $1 WHERE a = $2 AND b = $3 AND d = $4")
        #expect(sql.parameters.types == [25, 20, 20, 16])
    }

    @Test func `a statement inside a statement keeps its parameters in order`() {
        let inner: SQL = "SELECT id FROM u WHERE x = \("x")"
        let sql: SQL = "SELECT * FROM t WHERE a = \(1) AND b IN (\(sql: inner)) AND c = \(true)"
        #expect(sql.text == "SELECT * FROM t WHERE a = $1 AND b IN (SELECT id FROM u WHERE x = $2) AND c = $3")
        #expect(sql.parameters.types == [20, 25, 16])
    }

    @Test func `numbers of two digits are not mistaken for smaller ones`() {
        let one: SQL = "\(1),"
        let sql = (0..<12).reduce("SELECT " as SQL) { sum, _ in sum + one } + "NULL"
        #expect(sql.text == "SELECT $1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,NULL")
    }

    @Test(arguments: [
        ("users", "\"users\""), ("a\"b", "\"a\"\"b\""), ("\"; DROP TABLE t; --", "\"\"\"; DROP TABLE t; --\""),
        ("", "\"\""), ("a\0b", "\"a\""),
    ])
    func `identifiers are quoted`(identifier: String, quoted: String) {
        #expect(("SELECT * FROM \(identifier: identifier)" as SQL).text == "SELECT * FROM \(quoted)")
    }

    @Test func `nil is a NULL of its type`() {
        let sql: SQL = "SELECT \(Int32?.none)"
        #expect(sql.parameters.types == [PostgresType.int4.rawValue])
        sql.parameters.withPointers { values, _, _ in #expect(values[0] == nil) }
    }

    @Test func `an empty value is not NULL`() {
        let sql: SQL = "SELECT \("")"
        sql.parameters.withPointers { values, lengths, _ in
            #expect(values[0] != nil)
            #expect(lengths[0] == 0)
        }
    }

    @Test func `NULL leaves no bytes behind for its neighbours`() {
        let sql: SQL = "SELECT \(String?.none), \("ab"), \(Int16(258))"
        sql.parameters.withPointers { values, lengths, _ in
            #expect(values[0] == nil)
            #expect([lengths[1], lengths[2]] == [2, 2])
            #expect(values[1]?.pointee == CChar(UInt8(ascii: "a")))
            #expect(values[2]?.pointee == 1)
        }
    }

    @Test func `text with a zero byte is refused`() {
        let sql: SQL = "SELECT \(1), \("a\0b")"
        let error = #expect(throws: PostgresError.self) { try sql.parameters.check() }
        #expect(error?.kind == .encoding)
    }

    @Test func `more parameters than the protocol can count are refused`() {
        var sql: SQL = "SELECT "
        for _ in 0...ParameterList.limit { sql += "\(true)," }
        let error = #expect(throws: PostgresError.self) { try sql.parameters.check() }
        #expect(error?.kind == .encoding)
    }

    @Test func `arrays of arrays are refused`() {
        let sql: SQL = "SELECT \([[1], [2]])"
        let error = #expect(throws: PostgresError.self) { try sql.parameters.check() }
        #expect(error?.kind == .encoding)
    }

    @Test func `only what is asked for is unprepared`() {
        let sql: SQL = "SELECT 1"
        #expect(sql.isPrepared)
        #expect(!SQL.unprepared(sql).isPrepared)
        #expect(!(sql + .unprepared(" LIMIT 1")).isPrepared)
    }
}

@Suite struct StatementCacheTests {
    private var cache = StatementCache(capacity: 2, mark: 35)

    @Test mutating func `gives up what has gone unused the longest`() {
        insert("a", "b")
        #expect(cache.name(for: key("a")) == "a")
        insert("c")
        #expect(cache.name(for: key("b")) == nil)
        #expect(cache.name(for: key("a")) == "a")
        #expect(cache.leftBehind == 1)
    }

    @Test mutating func `the same text with other types is another statement`() {
        cache.insert(StatementCache.Key(text: "SELECT $1", types: [20]), name: "int")
        #expect(cache.name(for: StatementCache.Key(text: "SELECT $1", types: [25])) == nil)
    }

    @Test mutating func `never uses a name twice`() {
        var names: Set<String> = []
        for number in 0..<10 {
            let name = cache.makeName()
            names.insert(name)
            cache.insert(key("\(number)"), name: name)
        }
        #expect(names.count == 10)
        #expect(cache.count == 2)
    }

    @Test func `no two connections use the same names`() {
        var (one, two) = (cache, StatementCache(capacity: 2, mark: 36))
        #expect(one.makeName() == "carillon_z_1")
        #expect(two.makeName() == "carillon_10_1")
    }

    @Test mutating func `a connection is worn once it has left behind as many as it keeps`() {
        insert("a")
        cache.remove(key("a"))
        cache.remove(key("unknown"))
        #expect(cache.leftBehind == 1 && !cache.isWorn)
        insert("b", "c", "d")
        #expect(cache.isWorn)
    }

    @Test mutating func `what the server has forgotten is not left behind`() {
        insert("a", "b", "c", "d")
        cache.forgetAll()
        #expect(cache.count == 0)
        #expect(!cache.isWorn)
    }

    private func key(_ text: String) -> StatementCache.Key { StatementCache.Key(text: text, types: []) }

    private mutating func insert(_ texts: String...) { for text in texts { cache.insert(key(text), name: text) } }
}

@Suite struct PostgresErrorTests {
    private static let report = PostgresError.ServerReport(
        sqlState: .uniqueViolation,
        message: "duplicate key value violates unique constraint",
        detail: "Key (email)=(alice@example.com) already exists.",
        hint: "a hint",
        context: "a context",
        schema: "public",
        table: "users",
        constraint: "users_email_key"
    )

    @Test func `the description holds no data`() {
        let error = PostgresError(server: Self.report)
        #expect(error.description == "PostgreSQL: the server answered 23505, constraint users_email_key, table users")
        #expect(!"\(error)".contains("alice"))
    }

    @Test func `the description says what is wrong with the server itself`() {
        let message = #"could not load library "/usr/lib/postgresql/15/lib/plpgsql.so": undefined symbol"#
        for state in ["53100", "58P01", "XX000"] {
            let error = PostgresError(server: .init(sqlState: SQLState(rawValue: state), message: message))
            #expect(error.description == "PostgreSQL: the server answered \(state): \(message)")
        }
    }

    @Test func `the debug description holds everything`() {
        let text = String(reflecting: PostgresError(server: Self.report))
        for part in ["23505", "alice@example.com", "duplicate key value", "a hint", "a context"] {
            #expect(text.contains(part))
        }
    }

    @Test(arguments: [
        (SQLState.serializationFailure, true), (.deadlockDetected, true), (.uniqueViolation, false),
        (.queryCanceled, false), (.lockNotAvailable, false),
    ])
    func `only lost races are worth the same transaction again`(state: SQLState, isRetriable: Bool) {
        #expect(PostgresError(.server(state)).isRetriable == isRetriable)
    }

    @Test(arguments: [
        (PostgresError.Kind.connectionFailed, true), (.connectionLost, true), (.timedOut, true), (.poolExhausted, true),
        (.server(.adminShutdown), true), (.server(.crashShutdown), true), (.server(.cannotConnectNow), true),
        (.server(SQLState(rawValue: "53300")), true), (.server(SQLState(rawValue: "08006")), true),
        (.server(.lockNotAvailable), true), (.server(.queryCanceled), true), (.server(.readOnlySQLTransaction), true),
        (.server(.diskFull), true),
        (.server(.uniqueViolation), false), (.server(.serializationFailure), false),
        (.server(SQLState(rawValue: "42601")), false),
        (.server(SQLState(rawValue: "25P04")), false), (.server(.internalError), false),
        (.shuttingDown, false), (.cancelled, false), (.decoding, false), (.encoding, false),
        (.invalidConfiguration, false),
    ])
    func `tells a server that is away or overloaded from a mistake`(kind: PostgresError.Kind, isConnectivity: Bool) {
        #expect(PostgresError(kind).isConnectivity == isConnectivity)
    }

    @Test func `whatever ended the session may succeed in another one`() {
        var report = PostgresError.ServerReport(sqlState: SQLState(rawValue: "25P04"))
        #expect(!PostgresError(server: report).isConnectivity)
        report.isFatal = true
        #expect(PostgresError(server: report).isConnectivity)
    }
}
