/// The parameters of a statement in binary form, in one buffer.
struct ParameterList: Sendable {
    /// The server counts parameters in sixteen bits.
    static let limit = 65_535

    private var writer = PostgresWriter()
    private var ranges: [Range<Int>?] = []
    private(set) var types: [UInt32] = []
    private var failure: PostgresError?

    var count: Int { ranges.count }

    mutating func append(_ value: some PostgresEncodable) {
        types.append(type(of: value).postgresType.rawValue)
        do throws(PostgresError) {
            let range = try writer.encode(value)
            guard (range?.count ?? 0) <= Int32.max else {
                throw PostgresError(.encoding, reason: "a parameter exceeds 2 GiB")
            }
            ranges.append(range)
        } catch {
            // Interpolation cannot throw; whoever runs the statement does.
            failure = failure ?? error
            ranges.append(nil)
        }
    }

    mutating func append(_ other: ParameterList) {
        let offset = writer.bytes.count
        writer.write(bytes: other.writer.bytes)
        ranges += other.ranges.map { $0.map { $0.lowerBound + offset..<$0.upperBound + offset } }
        types += other.types
        failure = failure ?? other.failure
    }

    /// Throws the first `encoding` error, and one for more parameters than a statement may have.
    func check() throws(PostgresError) {
        if let failure { throw failure }
        guard count <= Self.limit else {
            throw PostgresError(.encoding, reason: "\(count) parameters, at most \(Self.limit) are possible")
        }
    }

    /// Lends the parameters in the shape libpq wants: a pointer (nil is NULL), a length and a format for each.
    func withPointers<Result>(
        _ body: (
            _ values: UnsafePointer<UnsafePointer<CChar>?>, _ lengths: UnsafePointer<Int32>,
            _ formats: UnsafePointer<Int32>
        ) -> Result
    ) -> Result {
        let lengths = ranges.map { Int32(clamping: $0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: count)
        return writer.bytes.withUnsafeBytes { bytes in
            // An empty value is not NULL, so it needs an address even when there are no bytes at all.
            withUnsafePointer(to: CChar(0)) { empty in
                let values = ranges.map { range -> UnsafePointer<CChar>? in
                    guard let range else { return nil }
                    return bytes.baseAddress?.advanced(by: range.lowerBound).assumingMemoryBound(to: CChar.self)
                        ?? empty
                }
                return body(values, lengths, formats)
            }
        }
    }
}
