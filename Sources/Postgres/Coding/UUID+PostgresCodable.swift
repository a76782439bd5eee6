#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension UUID: PostgresCodable {
    /// `uuid`
    public static var postgresType: PostgresType { .uuid }

    /// Writes sixteen bytes.
    public func encodePostgres(into writer: inout PostgresWriter) throws(PostgresError) {
        withUnsafeBytes(of: uuid) { writer.write(bytes: $0) }
    }

    /// Reads a `uuid`.
    public init(postgres field: borrowing PostgresField) throws(PostgresError) {
        guard field.type == .uuid else { throw field.failure("is no UUID") }
        self = try field.withUnsafeBytes(as: UUID.self) { bytes throws(PostgresError) in
            guard bytes.count == MemoryLayout<uuid_t>.size else { throw field.failure("is malformed") }
            return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }
}
