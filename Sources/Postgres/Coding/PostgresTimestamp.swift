/// A moment with the microsecond precision that PostgreSQL keeps (`timestamp with time zone`).
public struct PostgresTimestamp: Hashable, Comparable, Sendable {
    /// Microseconds since 1970-01-01 00:00:00 UTC, without leap seconds.
    public let microsecondsSince1970: Int64

    /// Wraps a count of microseconds since 1970.
    public init(microsecondsSince1970: Int64) {
        self.microsecondsSince1970 = microsecondsSince1970
    }

    /// PostgreSQL's `infinity`: later than every other moment.
    public static let infinity = PostgresTimestamp(microsecondsSince1970: .max)

    /// PostgreSQL's `-infinity`: earlier than every other moment.
    public static let negativeInfinity = PostgresTimestamp(microsecondsSince1970: .min)

    /// Orders moments by time.
    public static func < (lhs: PostgresTimestamp, rhs: PostgresTimestamp) -> Bool {
        lhs.microsecondsSince1970 < rhs.microsecondsSince1970
    }

    // PostgreSQL counts from 2000-01-01.
    private static let epoch: Int64 = 946_684_800_000_000
}

extension PostgresTimestamp: PostgresCodable {
    /// `timestamp with time zone`
    public static var postgresType: PostgresType { .timestamptz }

    /// Writes microseconds since 2000-01-01.
    ///
    /// - Throws: `encoding` for a moment before PostgreSQL's range (4713 BC) begins to overflow.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        if self == .infinity || self == .negativeInfinity { return writer.write(microsecondsSince1970) }
        let (value, overflow) = microsecondsSince1970.subtractingReportingOverflow(Self.epoch)
        guard !overflow else { throw PostgresError(.encoding, reason: "a timestamp is out of range") }
        writer.write(value)
    }

    /// Reads a `timestamp with time zone`.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        guard field.type == .timestamptz else { throw field.failure("is no PostgresTimestamp") }
        let value = try field.decodeInteger(Int64.self, as: Int64.self)
        if value == .max || value == .min {
            self.init(microsecondsSince1970: value)
            return
        }
        let (microseconds, overflow) = value.addingReportingOverflow(Self.epoch)
        guard !overflow else { throw field.failure("is out of range") }
        self.init(microsecondsSince1970: microseconds)
    }
}
