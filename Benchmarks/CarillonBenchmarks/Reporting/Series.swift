/// Repeated measurements of one thing.
struct Series: Sendable {
    private var sorted: [Double]

    /// The measurements in any order.
    init(_ values: [Double] = []) {
        sorted = values.sorted()
    }

    /// How many there are.
    var count: Int { sorted.count }

    /// The middle one; zero when there are none.
    var median: Double {
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The smallest and the largest; `nil` unless there are several.
    var range: ClosedRange<Double>? {
        guard sorted.count > 1, let first = sorted.first, let last = sorted.last else { return nil }
        return first...last
    }

    /// The largest; zero when there are none.
    var maximum: Double { sorted.last ?? 0 }

    /// The mean; zero when there are none.
    var mean: Double { sorted.isEmpty ? 0 : sorted.reduce(0, +) / Double(sorted.count) }

    /// The value that a share of all does not exceed: the nearest rank, so that it is one of the values.
    func percentile(_ share: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        let rank = Int((share * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }

    /// Adds a measurement.
    mutating func append(_ value: Double) {
        let index = sorted.firstIndex { $0 > value } ?? sorted.endIndex
        sorted.insert(value, at: index)
    }
}
