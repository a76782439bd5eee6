extension String {
    /// Whether both are spelled with the same bytes of UTF-8: `==` takes two spellings of `é` for one.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return withBytes { bytes in other.withBytes { bytes.elementsEqual($0) } }
    }

    /// Whether it comes before another one by its bytes of UTF-8.
    func precedesByBytes(_ other: String) -> Bool {
        withBytes { bytes in other.withBytes { bytes.lexicographicallyPrecedes($0) } }
    }

    /// Where the bytes lie in a row, as in all but strings of other systems' making, they are compared several times as fast as one
    /// by one.
    private func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        utf8.withContiguousStorageIfAvailable(body) ?? Array(utf8).withUnsafeBufferPointer(body)
    }
}
