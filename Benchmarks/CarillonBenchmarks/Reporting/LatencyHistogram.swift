/// Counts latencies in buckets that are at most 1.6 % wide, so that a million of them need no more room than a thousand.
struct LatencyHistogram: Sendable {
    // 64 buckets for each power of two of microseconds.
    private static let bucketBits = 6
    private static let longest = 1 << 36

    private var counts: [Int] = []
    /// How many latencies were counted.
    private(set) var count = 0

    /// Counts one; what is negative counts as zero, what is longer than 19 hours as that.
    mutating func record(nanoseconds: Int64) {
        let microseconds = min(max(0, Int(nanoseconds / 1000)), Self.longest)
        let bucket = Self.bucket(of: microseconds)
        if bucket >= counts.count {
            counts.append(contentsOf: repeatElement(0, count: bucket + 1 - counts.count))
        }
        counts[bucket] += 1
        count += 1
    }

    /// The latency in milliseconds that a share of all does not exceed; zero when there are none.
    func percentile(_ share: Double) -> Double {
        let rank = max(1, Int((share * Double(count)).rounded(.up)))
        var seen = 0
        for (bucket, inBucket) in counts.enumerated() {
            seen += inBucket
            if seen >= rank { return Double(Self.upperBound(of: bucket)) / 1000 }
        }
        return 0
    }

    private static func bucket(of microseconds: Int) -> Int {
        let significant = 1 << (bucketBits + 1)
        guard microseconds >= significant else { return microseconds }
        let shift = Int.bitWidth - microseconds.leadingZeroBitCount - (bucketBits + 1)
        return (shift << bucketBits) + (microseconds >> shift)
    }

    /// The longest latency of a bucket, in microseconds.
    private static func upperBound(of bucket: Int) -> Int {
        let significant = 1 << (bucketBits + 1)
        guard bucket >= significant else { return bucket }
        let shift = (bucket >> bucketBits) - 1
        let mantissa = bucket - (shift << bucketBits)
        return ((mantissa + 1) << shift) - 1
    }
}
