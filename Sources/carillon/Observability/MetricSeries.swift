import CoreMetrics
import Synchronization

/// What one label combination of a metric counts.
protocol MetricSeries: AnyObject, Sendable {
    /// Appends its lines in Prometheus' text format.
    func write(to text: inout String, name: String, labels: MetricLabels)
}

final class CounterSeries: CounterHandler, MetricSeries {
    private let count = Atomic<Int64>(0)

    init() {}

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

    init() {}

    func record(_ value: Int64) { set(Double(value)) }

    func record(_ value: Double) { set(value) }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    func increment(by amount: Double) { add(amount) }

    func decrement(by amount: Double) { add(-amount) }

    func write(to text: inout String, name: String, labels: MetricLabels) {
        text += "\(name)\(labels) \(MetricNumber(Double(bitPattern: bits.load(ordering: .relaxed))))\n"
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

    private let bounds: HistogramBounds
    private let state: Mutex<State>

    init(bounds: HistogramBounds = .sizes) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.values.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.values.firstIndex { value <= $0 } ?? bounds.values.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(to text: inout String, name: String, labels: MetricLabels) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        var total = 0
        for (bound, count) in zip(bounds.values.map { "\(MetricNumber($0))" } + ["+Inf"], counts) {
            total += count
            text += "\(name)_bucket\(labels.adding("le", bound)) \(total)\n"
        }
        text += "\(name)_sum\(labels) \(MetricNumber(sum))\n"
        text += "\(name)_count\(labels) \(total)\n"
    }
}
