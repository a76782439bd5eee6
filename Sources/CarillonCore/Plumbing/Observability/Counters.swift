package import CoreMetrics

/// A counter for each value of a label. All are there from the start: one that appears when something happens for the first time
/// begins at 1, and whoever compares two readings never learns of it.
package struct Counters<Value: Hashable & Sendable>: Sendable {
    private let counters: [Value: Counter]

    /// - Parameters:
    ///   - name: The metric.
    ///   - label: The label.
    ///   - values: What it says of each value.
    ///   - labels: Further labels, which all have in common.
    ///   - factory: Makes counters.
    package init(
        _ name: String,
        by label: String,
        _ values: [Value: String],
        labels: [(String, String)] = [],
        factory: any MetricsFactory
    ) {
        counters = values.mapValues { Counter(label: name, dimensions: labels + [(label, $0)], factory: factory) }
    }

    package func count(_ value: Value, by amount: Int = 1) { counters[value]?.increment(by: amount) }
}

extension Counters where Value: CaseIterable & RawRepresentable<String> {
    /// Counters for all values that there are, by what they are called.
    package init(_ name: String, by label: String, labels: [(String, String)] = [], factory: any MetricsFactory) {
        let values = Dictionary(uniqueKeysWithValues: Value.allCases.map { ($0, $0.rawValue) })
        self.init(name, by: label, values, labels: labels, factory: factory)
    }
}
