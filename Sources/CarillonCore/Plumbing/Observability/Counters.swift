package import CoreMetrics

/// A counter for each value of a label. All are there from the start: one that appears when something happens for the first time
/// begins at 1, and whoever compares two readings never learns of it.
package struct Counters<Value: CaseIterable & RawRepresentable<String> & Hashable & Sendable>: Sendable {
    private let counters: [Value: Counter]

    /// Counters of a metric, which have further labels in common.
    package init(_ name: String, by label: String, labels: [(String, String)] = [], factory: any MetricsFactory) {
        counters = Dictionary(
            uniqueKeysWithValues: Value.allCases.map { value in
                (value, Counter(label: name, dimensions: labels + [(label, value.rawValue)], factory: factory))
            }
        )
    }

    package func count(_ value: Value, by amount: Int = 1) { counters[value]?.increment(by: amount) }
}
