/// A value that can be bound to a parameter of a statement.
///
/// Types whose raw value is encodable conform with an empty extension.
public protocol PostgresEncodable: Sendable {
    /// The type the parameter is declared as; a value that is NULL has one too.
    static var postgresType: PostgresType { get }

    /// Writes the binary form of ``postgresType``.
    ///
    /// - Throws: `encoding` when the value has no such form.
    func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError)
}

extension PostgresEncodable where Self: RawRepresentable, RawValue: PostgresEncodable {
    /// The raw value's type.
    public static var postgresType: PostgresType { RawValue.postgresType }

    /// Writes the raw value.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        try rawValue.encodePostgres(into: &writer)
    }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    /// The wrapped value's type.
    public static var postgresType: PostgresType { Wrapped.postgresType }

    /// Writes the wrapped value, or NULL.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        guard let value = self else { return writer.writeNull() }
        try value.encodePostgres(into: &writer)
    }
}
