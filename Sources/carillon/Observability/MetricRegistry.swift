import CoreMetrics
import Synchronization

/// Keeps the metrics of the process and writes them in Prometheus' text format.
///
/// What a label combination counts is an object of its own, so that counting takes one atomic addition or one short
/// lock, and no look-up where the caller keeps the metric. The number of combinations is bounded: further ones are
/// counted together in `carillon_metric_series_dropped_total`.
final class MetricRegistry: MetricsFactory, Sendable {
    static let seriesPerMetric = 1_000
    static let metrics = 200

    private struct State {
        var families: [String: MetricFamily] = [:]
        var readings: [String: @Sendable () -> [MetricReading]] = [:]
    }

    private let state = Mutex(State())
    private let dropped = CounterSeries()

    /// Adds metrics that are read when somebody asks for them, such as the size of a pool.
    func onScrape(_ name: String, _ type: MetricType = .gauge, read: @escaping @Sendable () -> [MetricReading]) {
        state.withLock { state in
            state.families[name] = MetricFamily(name: name, type: type)
            state.readings[name] = read
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let name = String(metricName: label, suffix: "_total")
        return series(name, .counter, dimensions) { CounterSeries() } ?? dropped
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        let name = String(metricName: label)
        if aggregate {
            return series(name, .histogram, dimensions) { HistogramSeries(of: name) } ?? HistogramSeries()
        }
        return series(name, .gauge, dimensions) { GaugeSeries() } ?? GaugeSeries()
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(String(metricName: label), .gauge, dimensions) { GaugeSeries() } ?? GaugeSeries()
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let name = String(metricName: label, suffix: "_seconds")
        return series(name, .histogram, dimensions) { HistogramSeries(of: name) } ?? HistogramSeries()
    }

    // What was counted stays: a counter that comes back must not begin at zero.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    /// Everything, in Prometheus' text format 0.0.4.
    func exposition() -> String {
        let (families, readings) = state.withLock { ($0.families, $0.readings) }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            family.write(to: &text, readings: readings[name]?() ?? [])
        }
        if dropped.value > 0 {
            let family = MetricFamily(name: "carillon_metric_series_dropped_total", type: .counter)
            family.write(to: &text, readings: [MetricReading(Double(dropped.value))])
        }
        return text
    }

    /// The series of these labels; `nil` when there are too many, or when the name stands for another type.
    private func series<Series: MetricSeries>(
        _ name: String,
        _ type: MetricType,
        _ dimensions: [(String, String)],
        make: () -> Series
    ) -> Series? {
        let labels = MetricLabels(dimensions)
        let series: Series? = state.withLock { state in
            if state.families[name] == nil {
                guard state.families.count < Self.metrics else { return nil }
                state.families[name] = MetricFamily(name: name, type: type)
            }
            if let series = state.families[name]?.series[labels] { return series as? Series }
            guard let family = state.families[name], family.type == type, family.series.count < Self.seriesPerMetric
            else { return nil }
            let series = make()
            state.families[name]?.series[labels] = series
            return series
        }
        if series == nil { dropped.increment(by: 1) }
        return series
    }
}
