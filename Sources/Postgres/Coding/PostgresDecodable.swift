/// A value that can be read from a field of a row.
///
/// Types whose raw value is decodable conform with an empty extension.
public protocol PostgresDecodable {
    /// Reads the binary form of a field.
    ///
    /// - Throws: `decoding` when the field is NULL, of another type, or malformed.
    init(postgres field: borrowing PostgresField) throws(PostgresError)
}

/// A value that travels both ways.
public typealias PostgresCodable = PostgresEncodable & PostgresDecodable

extension PostgresDecodable where Self: RawRepresentable, RawValue: PostgresDecodable {
    /// Reads the raw value; one that the type does not know is a `decoding` error.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        let rawValue = try RawValue(postgres: field)
        guard let value = Self(rawValue: rawValue) else {
            throw field.failure("is not a raw value of \(Self.self)")
        }
        self = value
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Reads the wrapped value; NULL becomes nil.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        guard !field.isNull else {
            self = nil
            return
        }
        self = try Wrapped(postgres: field)
    }
}
