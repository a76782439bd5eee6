/// A set in four bytes an element, which may take something for an element that is none: less than once in 100,000 times.
struct BloomFilter {
    private static let probes = 8
    /// With fewer words the probes of few elements would meet too often.
    private static let fewestWords = 1_024

    private var words: [UInt64]

    /// An empty set for so many elements.
    init(capacity: Int) {
        words = Array(repeating: 0, count: max(Self.fewestWords, capacity / 2))
    }

    mutating func insert(_ element: some Hashable) {
        for bit in bits(of: element) { words[bit / 64] |= 1 << (bit % 64) }
    }

    func contains(_ element: some Hashable) -> Bool {
        bits(of: element).allSatisfy { bit in words[bit / 64] & 1 << (bit % 64) != 0 }
    }

    private func bits(of element: some Hashable) -> some Sequence<Int> {
        let hash = UInt(bitPattern: element.hashValue)
        let (start, step) = (hash >> 32, hash & 0xFFFF_FFFF | 1)
        let count = UInt(words.count * 64)
        return (0..<UInt(Self.probes)).lazy.map { Int((start + $0 * step) % count) }
    }
}
