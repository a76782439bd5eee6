import Foundation
import Testing

@testable import Postgres

@Suite struct TypeTests {
    private enum Colour: String, PostgresCodable {
        case red, green
    }

    private struct Identifier: RawRepresentable, Hashable, PostgresCodable {
        let rawValue: UUID
    }

    @Test(arguments: [true, false])
    func `booleans come back`(value: Bool) async throws { try await expectRoundTrip(value) }

    @Test(arguments: [0, 1, -1, .min, .max] as [Int16])
    func `small integers come back`(value: Int16) async throws { try await expectRoundTrip(value) }

    @Test(arguments: [0, 1, -1, .min, .max] as [Int32])
    func `integers come back`(value: Int32) async throws { try await expectRoundTrip(value) }

    @Test(arguments: [0, 1, -1, .min, .max] as [Int64])
    func `big integers come back`(value: Int64) async throws {
        try await expectRoundTrip(value)
        try await expectRoundTrip(Int(value))
    }

    @Test(arguments: [0, -0.0, 1.5, -1e300, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
    func `floating-point numbers come back`(value: Double) async throws { try await expectRoundTrip(value) }

    @Test func `not a number comes back`() async throws {
        let value = try await returned(Double.nan)
        #expect(value.isNaN)
    }

    @Test(arguments: [
        "", "x", "it's \"quoted\" \\ and {braced}, NULL", "Grüße 👩‍👩‍👧‍👦 𝄞 \u{200F}עברית", "tab\tnewline\nreturn\r",
        "null", "\u{1}\u{7f}", String(repeating: "ä", count: 100_000),
    ])
    func `texts come back`(value: String) async throws { try await expectRoundTrip(value) }

    @Test(arguments: [[], [0], [0, 255, 39, 92], Array(repeating: 7, count: 100_000)] as [[UInt8]])
    func `bytes come back`(value: [UInt8]) async throws { try await expectRoundTrip(value) }

    @Test func `UUIDs come back as the server writes them`() async throws {
        let value = UUID()
        try await expectRoundTrip(value)
        try await withTestPool { pool in
            let text = try await pool.withConnection { session in
                try session.queryFirst("SELECT \(value)::text") { row in try row.decode(0, as: String.self) }
            }
            #expect(text == value.uuidString.lowercased())
        }
    }

    @Test(arguments: [
        PostgresTimestamp(microsecondsSince1970: 0), PostgresTimestamp(microsecondsSince1970: 1_700_000_000_123_456),
        PostgresTimestamp(microsecondsSince1970: -1), .infinity, .negativeInfinity,
    ])
    func `timestamps come back`(value: PostgresTimestamp) async throws { try await expectRoundTrip(value) }

    @Test func `a timestamp is the moment the server means`() async throws {
        try await withTestPool { pool in
            let value = try await pool.withConnection { session in
                try session.queryFirst("SELECT '2024-02-29 12:34:56.789012+02'::timestamptz") { row in
                    try row.decode(0, as: PostgresTimestamp.self)
                }
            }
            #expect(value?.microsecondsSince1970 == 1_709_202_896_789_012)
        }
    }

    @Test func `raw-representable values come back`() async throws {
        try await expectRoundTrip(Colour.green)
        try await expectRoundTrip(Identifier(rawValue: UUID()))
        try await expectRoundTrip([Colour.red, .green])
    }

    @Test func `nil comes back`() async throws {
        try await expectRoundTrip(Int?.none)
        try await expectRoundTrip(String?.none)
        try await expectRoundTrip([Int]?.none)
        try await expectRoundTrip(Int?.some(1))
    }

    @Test func `arrays of every type come back, NULLs and all`() async throws {
        try await expectRoundTrip([true, nil, false])
        try await expectRoundTrip([1, nil, .max] as [Int16?])
        try await expectRoundTrip([1, nil, .min] as [Int32?])
        try await expectRoundTrip([1, nil, .max] as [Int64?])
        try await expectRoundTrip([1, nil, -1] as [Int?])
        try await expectRoundTrip([1.5, nil, -.infinity])
        try await expectRoundTrip(["", nil, "NULL", "a\"b\\c{d},e", "👩‍👩‍👧‍👦"])
        try await expectRoundTrip([UUID(), nil, UUID()])
        try await expectRoundTrip([[], nil, [0, 255]] as [[UInt8]?])
        try await expectRoundTrip([PostgresTimestamp(microsecondsSince1970: 5), nil, .infinity])
        try await expectRoundTrip([nil] as [Int?])
    }

    @Test func `empty arrays come back`() async throws {
        try await expectRoundTrip([Int]())
        try await expectRoundTrip([String?]())
        try await expectRoundTrip([[UInt8]]())
    }

    @Test func `rows are inserted from parallel arrays`() async throws {
        try await withTestPool { pool in
            let ids = Array(1...500)
            let texts: [String?] = ids.map { $0.isMultiple(of: 3) ? nil : "text \($0)" }
            let (count, nulls) = try await pool.withTransaction { session in
                try session.execute("CREATE TABLE t (id bigint PRIMARY KEY, text text)")
                let count = try session.execute("INSERT INTO t SELECT * FROM unnest(\(ids), \(texts))")
                let nulls = try session.queryFirst("SELECT count(*) FROM t WHERE text IS NULL") { row in
                    try row.decode(0, as: Int.self)
                }
                return (count, nulls)
            }
            #expect(count == 500)
            #expect(nulls == 166)
        }
    }

    private func expectRoundTrip<Value: PostgresCodable & Equatable>(
        _ value: Value,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let copy = try await returned(value)
        #expect(copy == value, sourceLocation: sourceLocation)
    }

    private func returned<Value: PostgresCodable>(_ value: Value) async throws -> Value {
        let values = try await withTestPool { pool in
            try await pool.withConnection { session in
                try session.query("SELECT \(value)") { row in try row.decode(0, as: Value.self) }
                    + session.query(.unprepared("SELECT \(value)")) { row in try row.decode(0, as: Value.self) }
            }
        }
        try #require(values.count == 2)
        return values[1]
    }
}
