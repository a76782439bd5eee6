import Foundation
import Testing

@testable import Postgres

@Suite struct DecodingTests {
    @Test func `NULL is no value, and the error names column and type but no data`() async throws {
        let error = await failure { session in
            _ = try session.query("SELECT 'secret', NULL::bigint") { row in
                (try row.decode(0, as: String.self), try row.decode(1, as: Int.self))
            }
        }
        #expect(error?.kind == .decoding)
        #expect(error?.description.contains("column 1 (bigint) is NULL, which is no Int64") == true)
        #expect(!String(reflecting: error).contains("secret"))
    }

    @Test func `NULL is no value inside an array either`() async throws {
        let error = await failure { session in
            _ = try session.query("SELECT ARRAY['a', NULL]") { row in try row.decode(0, as: [String].self) }
        }
        #expect(error?.kind == .decoding)
    }

    @Test func `a type that does not fit is refused`() async throws {
        let attempts: [@Sendable (borrowing Row) throws -> Void] = [
            { row in _ = try row.decode(0, as: Int.self) },
            { row in _ = try row.decode(0, as: UUID.self) },
            { row in _ = try row.decode(0, as: Bool.self) },
            { row in _ = try row.decode(0, as: Double.self) },
            { row in _ = try row.decode(0, as: [UInt8].self) },
            { row in _ = try row.decode(0, as: [String].self) },
            { row in _ = try row.decode(0, as: PostgresTimestamp.self) },
            { row in _ = try row.decode(1, as: String.self) },
            { row in _ = try row.decode(1, as: Int32.self) },
            { row in _ = try row.decode(1, as: [Int].self) },
            { row in _ = try row.decode(2, as: [UInt8].self) },
            { row in _ = try row.decode(2, as: [String].self) },
            { row in _ = try row.decode(2, as: Int.self) },
        ]
        for attempt in attempts {
            let error = await failure { session in
                try session.forEach("SELECT 'secret', 9::bigint, ARRAY[1, 2]::int[]") { row in try attempt(row) }
            }
            #expect(error?.kind == .decoding)
        }
    }

    @Test func `a column that does not exist is an error, not a crash`() async throws {
        for column in [1, -1, .max] {
            let error = await failure { session in
                _ = try session.query("SELECT 1") { row in try row.decode(column, as: Int.self) }
            }
            #expect(error?.kind == .decoding)
        }
    }

    @Test func `an unknown raw value is refused without quoting it`() async throws {
        let error = await failure { session in
            _ = try session.query("SELECT 'secret'") { row in try row.decode(0, as: Flavour.self) }
        }
        #expect(error?.kind == .decoding)
        #expect(!String(reflecting: error).contains("secret"))
    }

    @Test func `arrays of several dimensions are refused`() async throws {
        let error = await failure { session in
            _ = try session.query("SELECT ARRAY[[1], [2]]") { row in try row.decode(0, as: [Int].self) }
        }
        #expect(error?.description.contains("has 2 dimensions") == true)
    }

    @Test func `integers widen`() async throws {
        try await withTestPool { pool in
            let values = try await pool.withConnection { session in
                try session.queryFirst("SELECT 1::int2, 2::int4, ARRAY[3, 4]::int2[], 0.5::real") { row in
                    (
                        try row.decode(0, as: Int.self), try row.decode(1, as: Int64.self),
                        try row.decode(2, as: [Int32].self), try row.decode(3, as: Double.self)
                    )
                }
            }
            let (small, medium, array, real) = try #require(values)
            #expect((small, medium, real) == (1, 2, 0.5))
            #expect(array == [3, 4])
        }
    }

    @Test func `an optional takes NULL without being named`() async throws {
        struct Person: Equatable {
            var name: String?
            var age: Int?
        }
        try await withTestPool { pool in
            let person = try await pool.withConnection { session in
                try session.queryFirst("SELECT NULL::text, 7") { row in
                    Person(name: try row.decode(0), age: try row.decode(1))
                }
            }
            #expect(person == Person(name: nil, age: 7))
        }
    }

    @Test func `all text types, enums and JSON are strings; a composite is not`() async throws {
        try await withTestPool { pool in
            let texts = try await pool.withConnection { session in
                try session.script("CREATE TYPE mood AS ENUM ('happy'); CREATE TYPE pair AS (a int, b int)")
                return try session.queryFirst(
                    """
                    SELECT 'a'::varchar, 'b'::char(2), 'c'::name, '{"d": 1}'::json, '{"e":  1}'::jsonb, 'happy'::mood
                    """
                ) { row in try (0..<row.columnCount).map { try row.decode($0, as: String.self) } }
            }
            #expect(texts == ["a", "b ", "c", "{\"d\": 1}", "{\"e\": 1}", "happy"])
            await #expect(throws: PostgresError.self) {
                try await pool.withConnection { session in
                    _ = try session.query("SELECT ROW(1, 2)::pair") { row in try row.decode(0, as: String.self) }
                }
            }
        }
    }

    @Test(
        arguments: [
            [], [0, 0], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20],
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 127, 255, 255, 255],
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 8, 1],
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 255, 255, 255, 254],
        ] as [[UInt8]]
    )
    func `a malformed array is an error, not a crash`(bytes: [UInt8]) throws {
        let type = try #require(PostgresType.int8.arrayType)
        bytes.withUnsafeBytes { buffer in
            let error = #expect(throws: PostgresError.self) {
                try [Int](postgres: PostgresField(type: type, column: 0, bytes: buffer))
            }
            #expect(error?.kind == .decoding)
        }
    }

    @Test(arguments: [[], [1, 2, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9]] as [[UInt8]])
    func `a scalar of the wrong length is an error, not a crash`(bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            #expect(throws: PostgresError.self) {
                try Int(postgres: PostgresField(type: .int8, column: 0, bytes: buffer))
            }
            #expect(throws: PostgresError.self) {
                try UUID(postgres: PostgresField(type: .uuid, column: 0, bytes: buffer))
            }
        }
    }

    private enum Flavour: String, PostgresDecodable {
        case sweet
    }

    private func failure(_ body: @Sendable (borrowing PostgresSession) throws -> Void) async -> PostgresError? {
        await #expect(throws: PostgresError.self) {
            try await withTestPool { pool in try await pool.withConnection(body) }
        }
    }
}
