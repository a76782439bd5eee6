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
