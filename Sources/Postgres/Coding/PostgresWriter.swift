#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Collects the binary form of parameters, in network byte order.
public struct PostgresWriter: Sendable {
    private(set) var bytes: [UInt8] = []
    private var isNull = false

    /// Appends an integer, most significant byte first.
    public mutating func write(_ integer: some FixedWidthInteger) {
        withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes as they are.
    public mutating func write(bytes newBytes: some Collection<UInt8>) {
        bytes.append(contentsOf: newBytes)
    }

    /// Appends text in UTF-8.
    ///
    /// - Throws: `encoding` for text that holds U+0000, which PostgreSQL cannot store.
    public mutating func write(text: String) throws(PostgresError) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        let holdsNull = bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memchr($0 + start, 0, bytes.count - start) != nil } ?? false
        }
        guard !holdsNull else {
            bytes.removeSubrange(start...)
            throw PostgresError(.encoding, reason: "text holds U+0000, which PostgreSQL cannot store")
        }
    }

    /// Makes the value NULL; whatever else is written for it is ignored.
    public mutating func writeNull() {
        isNull = true
    }

    /// Encodes one value and tells which bytes are its own; nil means NULL.
    mutating func encode(_ value: borrowing some PostgresEncodable) throws(PostgresError) -> Range<Int>? {
        let start = bytes.count
        try value.encodePostgres(into: &self)
        guard !isNull else {
            isNull = false
            bytes.removeSubrange(start...)
            return nil
        }
        return start..<bytes.count
    }

    /// Encodes one value behind its length in bytes, as an array's elements travel; -1 means NULL.
    mutating func encodeElement(_ value: borrowing some PostgresEncodable) throws(PostgresError) {
        let lengthOffset = bytes.count
        write(Int32(-1))
        guard let range = try encode(value) else { return }
        guard let length = Int32(exactly: range.count) else {
            throw PostgresError(.encoding, reason: "an array element exceeds 2 GiB")
        }
        overwrite(length, at: lengthOffset)
    }

    private mutating func overwrite(_ integer: Int32, at offset: Int) {
        withUnsafeBytes(of: integer.bigEndian) { source in
            for (index, byte) in source.enumerated() { bytes[offset + index] = byte }
        }
    }
}
