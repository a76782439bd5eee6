/// Finds out where bytes stop being UTF-8 (RFC 3629); needed only after `String` has said that they do.
enum UTF8Validation {
    /// How many bytes at the beginning are whole, valid sequences.
    static func validPrefix(of bytes: some Sequence<UInt8>) -> Int {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var length = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            length += UTF8.width(scalar)
        }
        return length
    }
}
