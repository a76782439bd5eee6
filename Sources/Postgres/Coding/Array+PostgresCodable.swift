// The binary form of an array: dimensions, a flag for NULLs, the element type, then for each dimension its length and
// lower bound, then each element behind its own length. See src/backend/utils/adt/arrayfuncs.c, array_recv.

extension Array: PostgresEncodable where Element: PostgresEncodable {
    /// `bytea` for bytes, else the array type of the element's type.
    public static var postgresType: PostgresType {
        if Element.self == UInt8.self { return .bytea }
        return Element.postgresType.arrayType ?? PostgresType(rawValue: 0)
    }

    /// Writes the bytes of a `bytea`, or a one-dimensional array.
    ///
    /// - Throws: `encoding` for arrays of arrays, which are not supported, and what the elements throw.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return writer.write(bytes: bytes) }
        guard Element.postgresType.arrayType != nil else {
            throw PostgresError(.encoding, reason: "there is no array of \(Element.postgresType)")
        }
        guard let length = Int32(exactly: count) else {
            throw PostgresError(.encoding, reason: "an array exceeds 2^31 elements")
        }
        writer.write(Int32(isEmpty ? 0 : 1))
        writer.write(Int32(0))
        writer.write(Element.postgresType.rawValue)
        guard !isEmpty else { return }
        writer.write(length)
        writer.write(Int32(1))
        for element in self {
            try writer.encodeElement(element)
        }
    }
}

extension Array: PostgresDecodable where Element: PostgresDecodable {
    /// Reads a `bytea` into bytes, or a one-dimensional array.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        if field.type == .bytea, Element.self == UInt8.self {
            let bytes = try field.withUnsafeBytes(as: Self.self) { [UInt8]($0) }
            guard let elements = bytes as? Self else { throw field.failure("is no \(Self.self)") }
            self = elements
            return
        }
        guard field.type.isKnownArray || field.type.isUserDefined, Element.self != UInt8.self else {
            throw field.failure("is no \(Self.self)")
        }
        self = try field.withUnsafeBytes(as: Self.self) { bytes throws(PostgresError) in
            try Self.elements(in: bytes, of: field)
        }
    }

    private static func elements(
        in bytes: UnsafeRawBufferPointer,
        of field: borrowing PostgresField
    ) throws(PostgresError) -> Self {
        var reader = ByteReader(bytes)
        guard let dimensions = reader.read(Int32.self), reader.read(Int32.self) != nil,
            let elementType = reader.read(UInt32.self).map(PostgresType.init(rawValue:))
        else { throw field.failure("is malformed") }
        guard dimensions != 0 else { return [] }
        guard dimensions == 1 else { throw field.failure("has \(dimensions) dimensions, not one") }
        // Each element takes at least the four bytes of its length, so a forged count cannot reserve much.
        guard let count = reader.read(Int32.self).map(Int.init), count >= 0, count <= bytes.count / 4,
            reader.read(Int32.self) != nil
        else { throw field.failure("is malformed") }
        var elements: Self = []
        elements.reserveCapacity(count)
        for _ in 0..<count {
            guard let length = reader.read(Int32.self).map(Int.init) else { throw field.failure("is malformed") }
            let element = length == -1 ? nil : reader.read(count: length)
            guard length == -1 || element != nil else { throw field.failure("is malformed") }
            elements.append(
                try Element(postgres: PostgresField(type: elementType, column: field.column, bytes: element))
            )
        }
        return elements
    }
}
