import CLibPQ

/// One row of a result, lent to a decoding closure.
public struct Row: ~Copyable {
    private let result: OpaquePointer
    private let index: Int32

    init(result: OpaquePointer, index: Int32) {
        self.result = result
        self.index = index
    }

    /// How many columns the row has.
    public var columnCount: Int { Int(PQnfields(result)) }

    /// Whether the field is NULL; also true for a column that does not exist.
    public func isNull(_ column: Int) -> Bool {
        guard (0..<columnCount).contains(column) else { return true }
        return PQgetisnull(result, index, Int32(column)) == 1
    }

    /// Reads the field of a column, counted from zero. An optional takes NULL as nil, every other type refuses it.
    ///
    /// - Throws: `decoding`, naming the column, its type and what was asked for.
    public func decode<Value: PostgresDecodable>(
        _ column: Int,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        guard (0..<columnCount).contains(column) else {
            throw PostgresError(.decoding, reason: "column \(column) does not exist, the row has \(columnCount)")
        }
        let number = Int32(column)
        var bytes: UnsafeRawBufferPointer?
        if PQgetisnull(result, index, number) == 0 {
            bytes = UnsafeRawBufferPointer(
                start: PQgetvalue(result, index, number),
                count: Int(PQgetlength(result, index, number))
            )
        }
        return try Value(
            postgres: PostgresField(
                type: PostgresType(rawValue: PQftype(result, number)),
                column: column,
                bytes: bytes
            )
        )
    }
}
