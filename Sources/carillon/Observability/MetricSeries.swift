import CoreMetrics
import Synchronization

/// What one label combination of a metric counts.
protocol MetricSeries: AnyObject, Sendable {
    /// Appends its lines in Prometheus' text format.
    func write(to text: inout String, name: String, labels: MetricLabels)
}

final class CounterSeries: CounterHandler, MetricSeries {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func increment(by amount: Int64) {
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    func reset() {
        count.store(0, ordering: .relaxed)
    }

    func write(to text: inout String, name: String, labels: MetricLabels) {
        text += "\(name)\(labels) \(value)\n"
    }
}

final class GaugeSeries: RecorderHandler, MeterHandler, MetricSeries {
    private let bits = Atomic<UInt64>(0)

    func record(_ value: Int64) { set(Double(value)) }

    func record(_ value: Double) { set(value) }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    func increment(by amount: Double) { add(amount) }

    func decrement(by amount: Double) { add(-amount) }

    func write(to text: inout String, name: String, labels: MetricLabels) {
        text += "\(name)\(labels) \(Double(bitPattern: bits.load(ordering: .relaxed)).metricText)\n"
    }

    private func add(_ amount: Double) {
        var current = bits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: current) + amount).bitPattern
            let result = bits.weakCompareExchange(expected: current, desired: sum, ordering: .relaxed)
            if result.exchanged { return }
            current = result.original
        }
    }
}

/// Counts how often values fell below each bound, and adds them up. Timers are histograms of seconds.
final class HistogramSeries: RecorderHandler, TimerHandler, MetricSeries {
    private struct State {
        var counts: [Int]
        var sum = 0.0
    }

    /// For seconds: from half a millisecond to ten seconds.
    private static let seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    /// For numbers of things.
    private static let sizes: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

    /// In ascending order, without the infinite one.
    private let bounds: [Double]
    private let state: Mutex<State>

    /// A series with the bounds that fit a metric by its name.
    init(of name: String = "") {
        bounds = name.hasSuffix("_seconds") ? Self.seconds : Self.sizes
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(to text: inout String, name: String, labels: MetricLabels) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        var total = 0
        for (bound, count) in zip(bounds.map(\.metricText) + ["+Inf"], counts) {
            total += count
            text += "\(name)_bucket\(labels.adding("le", bound)) \(total)\n"
        }
        text += "\(name)_sum\(labels) \(sum.metricText)\n"
        text += "\(name)_count\(labels) \(total)\n"
    }
}
