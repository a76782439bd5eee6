extension String: PostgresCodable {
    /// `text`
    public static var postgresType: PostgresType { .text }

    /// Writes UTF-8.
    ///
    /// - Throws: `encoding` for text that holds U+0000.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        try writer.write(text: self)
    }

    /// Reads any of the text types, `json`, `jsonb` (as text), and user-defined types whose binary form is text, such as
    /// enums.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        if field.type == .text {
            // The server has checked it: sessions speak UTF-8, and no text type holds 0x00.
            self = try field.withUnsafeBytes(as: String.self) { bytes in String(decoding: bytes, as: UTF8.self) }
            return
        }
        guard Self.textTypes.contains(field.type) || field.type.isUserDefined else {
            throw field.failure("is no String")
        }
        let hasVersion = field.type == .jsonb
        self = try field.withUnsafeBytes(as: String.self) { bytes throws(PostgresError) in
            // A jsonb field is its version, 1, and then the text.
            guard !hasVersion || bytes.first == 1 else { throw field.failure("is of an unknown version") }
            // Text cannot hold 0x00, so this also refuses composite and other binary user-defined types.
            let text = bytes.dropFirst(hasVersion ? 1 : 0)
            guard !text.contains(0), let string = String(validating: text, as: UTF8.self) else {
                throw field.failure("is no String")
            }
            return string
        }
    }

    private static let textTypes: Set<PostgresType> = [.text, .varchar, .bpchar, .name, .json, .jsonb]
}
