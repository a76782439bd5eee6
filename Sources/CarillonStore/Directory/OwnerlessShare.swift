/// Which of nobody's devices are counted to tell whether there may be one more: all, or of many an even share.
struct OwnerlessShare: Hashable {
    /// The most that are counted.
    static let largest = 8_192
    private static let prefixes = 65_536

    let first: [UInt8]
    /// What is greater than all of its hashes.
    let end: [UInt8]
    /// How many there may be in it.
    let limit: Int

    init(of limit: Int, around hash: [UInt8]) {
        var shares = 1
        while limit / shares > Self.largest, shares < Self.prefixes { shares *= 2 }
        let width = Self.prefixes / shares
        let prefix = hash.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        let start = prefix / width * width
        first = [UInt8(start >> 8), UInt8(start & 0xFF)]
        let next = start + width
        // No hash is longer than 32 bytes.
        end = next < Self.prefixes ? [UInt8(next >> 8), UInt8(next & 0xFF)] : [UInt8](repeating: 0xFF, count: 33)
        self.limit = (limit + shares - 1) / shares
    }
}
