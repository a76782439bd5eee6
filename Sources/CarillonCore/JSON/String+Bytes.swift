#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension String {
    /// Whether both are spelled with the same bytes of UTF-8: `==` takes two spellings of `é` for one.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        if isASCII, other.isASCII { return self == other }
        return withBytes { bytes in other.withBytes { bytes.order(before: $0) == 0 } }
    }

    /// Whether it comes before another one by its bytes of UTF-8.
    func precedesByBytes(_ other: String) -> Bool {
        if isASCII, other.isASCII { return self < other }
        return withBytes { bytes in
            other.withBytes { other in
                let order = bytes.order(before: other)
                return order < 0 || order == 0 && bytes.count < other.count
            }
        }
    }

    /// Whether the standard library compares it with its like by their bytes, and without retaining them; of other strings it would sort
    /// the marks of letters first.
    package var isASCII: Bool { utf8.count == utf16.count }

    /// Where the bytes lie in a row, as in all but strings of other systems' making, they are compared several times as fast as one
    /// by one.
    private func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        utf8.withContiguousStorageIfAvailable(body) ?? Array(utf8).withUnsafeBufferPointer(body)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Below zero, zero or above as in `memcmp(3)`, of as many bytes as both have.
    fileprivate func order(before other: Self) -> Int32 {
        guard let start = baseAddress, let otherStart = other.baseAddress else { return 0 }
        return memcmp(start, otherStart, Swift.min(count, other.count))
    }
}
