/// How often something took how long: exact below 64 ms, then in sixteen steps for each doubling, so that what it tells of a
/// longer time is off by a thirtieth at the most. Histograms are added up without loss.
package struct LatencyHistogram: Sendable, Equatable {
    private static let exactMilliseconds: Int64 = 64
    private static let exactBits = 6
    private static let stepBits = 4
    /// 34 years.
    private static let longestBits = 40

    /// How often, by step; only steps that were met.
    private(set) package var counts: [Int: Int] = [:]

    package init() {}

    /// A histogram of counts by step; of what no histogram has, nothing is taken.
    package init(counts: [Int: Int]) {
        let last = Self.step(of: 1 << Self.longestBits)
        self.counts = counts.filter { (0...last).contains($0.key) && $0.value > 0 }
    }

    package var isEmpty: Bool { counts.isEmpty }

    package mutating func note(_ milliseconds: Int64, count: Int = 1) {
        guard count > 0 else { return }
        counts[Self.step(of: min(max(0, milliseconds), 1 << Self.longestBits)), default: 0] += count
    }

    package mutating func add(_ other: LatencyHistogram) {
        counts.merge(other.counts, uniquingKeysWith: +)
    }

    /// The time that so many hundredths of all did not exceed, in milliseconds; `nil` when nothing was noted.
    package func percentile(_ hundredths: Int) -> Int64? {
        let total = counts.values.reduce(0, +)
        guard total > 0 else { return nil }
        var rest = max(1, (total * hundredths + 99) / 100)
        for (step, count) in counts.sorted(by: { $0.key < $1.key }) {
            rest -= count
            if rest <= 0 { return Self.middle(of: step) }
        }
        return nil
    }

    private static func step(of milliseconds: Int64) -> Int {
        guard milliseconds >= exactMilliseconds else { return Int(milliseconds) }
        let bits = Int64.bitWidth - 1 - milliseconds.leadingZeroBitCount
        let part = Int(milliseconds >> (bits - stepBits)) & (1 << stepBits - 1)
        return Int(exactMilliseconds) + (bits - exactBits) << stepBits + part
    }

    private static func middle(of step: Int) -> Int64 {
        guard step >= Int(exactMilliseconds) else { return Int64(step) }
        let rest = step - Int(exactMilliseconds)
        let bits = exactBits + rest >> stepBits
        let width: Int64 = 1 << (bits - stepBits)
        return (1 << Int64(bits)) + Int64(rest & (1 << stepBits - 1)) * width + width / 2
    }
}
