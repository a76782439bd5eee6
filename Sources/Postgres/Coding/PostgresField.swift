/// One field of a row, or one element of an array in it, in PostgreSQL's binary form.
///
/// It points into the result and lives only as long as the decoding call it is handed to.
public struct PostgresField: ~Copyable {
    /// The field's type.
    public let type: PostgresType
    /// The position of the field's column in the row, from zero.
    public let column: Int
    private let bytes: UnsafeRawBufferPointer?

    init(type: PostgresType, column: Int, bytes: UnsafeRawBufferPointer?) {
        self.type = type
        self.column = column
        self.bytes = bytes
    }

    /// Whether the field is NULL.
    public var isNull: Bool { bytes == nil }

    /// Reads the field's bytes; the pointer must not leave the closure.
    ///
    /// - Throws: `decoding` for NULL, and what `body` throws.
    public func withUnsafeBytes<Value>(
        as expected: Any.Type,
        _ body: (UnsafeRawBufferPointer) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        guard let bytes else { throw failure("is NULL, which is no \(expected)") }
        return try body(bytes)
    }

    /// A `decoding` error that names the column and its type, and never its value.
    public func failure(_ reason: String) -> PostgresError {
        PostgresError(.decoding, reason: "column \(column) (\(type)) \(reason)")
    }

    /// Reads a big-endian integer of the field's own width.
    func decodeInteger<Value: FixedWidthInteger>(
        _ type: (some FixedWidthInteger).Type,
        as expected: Value.Type
    ) throws(PostgresError) -> Value {
        try withUnsafeBytes(as: expected) { bytes throws(PostgresError) in
            var reader = ByteReader(bytes)
            guard let value = reader.read(type), reader.isAtEnd else { throw failure("is malformed") }
            return Value(truncatingIfNeeded: value)
        }
    }
}
