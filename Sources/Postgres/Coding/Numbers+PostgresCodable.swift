extension Bool: PostgresCodable {
    /// `boolean`
    public static var postgresType: PostgresType { .bool }

    /// Writes one byte.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        writer.write(UInt8(self ? 1 : 0))
    }

    /// Reads a `boolean`.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        guard field.type == .bool else { throw field.failure("is no Bool") }
        self = try field.decodeInteger(UInt8.self, as: UInt8.self) != 0
    }
}

extension UInt8: PostgresCodable {
    /// `smallint`; an array of bytes, however, is `bytea`.
    public static var postgresType: PostgresType { .int2 }

    /// Writes a `smallint`.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        writer.write(Int16(self))
    }

    /// Reads a `smallint` between 0 and 255.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        guard let value = UInt8(exactly: try Int16(postgres: field)) else { throw field.failure("is no UInt8") }
        self = value
    }
}

extension PostgresEncodable where Self: FixedWidthInteger {
    /// Writes as many bytes as the integer has.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        writer.write(self)
    }
}

extension PostgresDecodable where Self: SignedInteger & FixedWidthInteger {
    /// Reads a `bigint`, an `integer` or a `smallint`, as far as it fits whatever its value is.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        switch field.type {
        case .int8 where Self.bitWidth >= 64: self = try field.decodeInteger(Int64.self, as: Self.self)
        case .int4 where Self.bitWidth >= 32: self = try field.decodeInteger(Int32.self, as: Self.self)
        case .int2: self = try field.decodeInteger(Int16.self, as: Self.self)
        default: throw field.failure("is no \(Self.self)")
        }
    }
}

extension Int16: PostgresCodable {
    /// `smallint`
    public static var postgresType: PostgresType { .int2 }
}

extension Int32: PostgresCodable {
    /// `integer`
    public static var postgresType: PostgresType { .int4 }
}

extension Int64: PostgresCodable {
    /// `bigint`
    public static var postgresType: PostgresType { .int8 }
}

extension Int: PostgresCodable {
    /// `bigint`
    public static var postgresType: PostgresType { .int8 }

    /// Reads what an `Int64` does.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        self = Int(try Int64(postgres: field))
    }
}

extension Double: PostgresCodable {
    /// `double precision`
    public static var postgresType: PostgresType { .float8 }

    /// Writes the IEEE 754 bits.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        writer.write(bitPattern)
    }

    /// Reads a `double precision` or a `real`.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        switch field.type {
        case .float8:
            self = Double(bitPattern: try field.decodeInteger(UInt64.self, as: UInt64.self))
        case .float4:
            self = Double(Float(bitPattern: try field.decodeInteger(UInt32.self, as: UInt32.self)))
        default:
            throw field.failure("is no Double")
        }
    }
}
