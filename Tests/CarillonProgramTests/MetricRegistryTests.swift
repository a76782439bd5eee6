import CoreMetrics
import Metrics
import Testing

@testable import carillon

@Suite struct MetricRegistryTests {
    private let registry = MetricRegistry()

    private var lines: [String] { registry.exposition().split(separator: "\n").map(String.init) }

    @Test func `a counter has its help, its type and a line for each label combination`() {
        let first = Counter(label: "carillon_events_total", dimensions: [("status", "accepted")], factory: registry)
        Counter(label: "carillon_events_total", dimensions: [("status", "refused")], factory: registry).increment(by: 2)
        first.increment()
        first.increment(by: 4)
        #expect(
            lines == [
                "# HELP carillon_events_total Posted events by what the sender was told; refused is a 503.",
                "# TYPE carillon_events_total counter",
                "carillon_events_total{status=\"accepted\"} 5",
                "carillon_events_total{status=\"refused\"} 2",
            ]
        )
    }

    @Test func `the same labels are one series, whoever asks`() {
        for _ in 0..<3 { Counter(label: "a_total", dimensions: [("x", "1")], factory: registry).increment() }
        #expect(lines.last == "a_total{x=\"1\"} 3")
    }

    @Test func `a histogram counts cumulatively, and what is beyond the last bound too`() {
        let sizes = Recorder(label: "carillon_group_commit_size", factory: registry)
        for size in [1, 2, 3, 5000] { sizes.record(size) }
        #expect(lines.contains("carillon_group_commit_size_bucket{le=\"1\"} 1"))
        #expect(lines.contains("carillon_group_commit_size_bucket{le=\"2\"} 2"))
        #expect(lines.contains("carillon_group_commit_size_bucket{le=\"5\"} 3"))
        #expect(lines.contains("carillon_group_commit_size_bucket{le=\"1000\"} 3"))
        #expect(lines.contains("carillon_group_commit_size_bucket{le=\"+Inf\"} 4"))
        #expect(lines.contains("carillon_group_commit_size_sum 5006"))
        #expect(lines.contains("carillon_group_commit_size_count 4"))
    }

    @Test func `a timer is a histogram of seconds`() {
        Metrics.Timer(label: "wait", factory: registry).recordNanoseconds(20_000_000)
        #expect(lines.contains("# TYPE wait_seconds histogram"))
        #expect(lines.contains("wait_seconds_bucket{le=\"0.01\"} 0"))
        #expect(lines.contains("wait_seconds_bucket{le=\"0.025\"} 1"))
        #expect(lines.contains("wait_seconds_sum 0.02"))
    }

    @Test func `gauges and meters show the last value`() {
        let gauge = Gauge(label: "age", factory: registry)
        gauge.record(1.5)
        gauge.record(0.25)
        let meter = Meter(label: "level", factory: registry)
        meter.set(3)
        meter.decrement(by: 1)
        #expect(lines.contains("age 0.25"))
        #expect(lines.contains("level 2"))
    }

    @Test func `label values are escaped and names made valid`() {
        let dimensions = [("b-c", "say \"hi\"\\\n")]
        Counter(label: "1 a.b", dimensions: dimensions, factory: registry).increment()
        #expect(lines.last == #"_1_a_b_total{b_c="say \"hi\"\\\n"} 1"#)
    }

    @Test func `label combinations are bounded, and what is dropped is counted`() {
        for number in 0..<(MetricRegistry.seriesPerMetric + 5) {
            Counter(label: "many_total", dimensions: [("n", "\(number)")], factory: registry).increment()
        }
        #expect(lines.count { $0.hasPrefix("many_total{") } == MetricRegistry.seriesPerMetric)
        #expect(lines.contains { $0.hasPrefix("carillon_metric_series_dropped_total ") })
    }

    @Test func `one name cannot be of two types`() {
        Counter(label: "twice_total", factory: registry).increment()
        Gauge(label: "twice_total", factory: registry).record(7)
        #expect(lines.count { $0.hasPrefix("twice_total") } == 1)
        #expect(lines.contains("# TYPE twice_total counter"))
    }

    @Test func `counts are not lost when many count at once`() async {
        let registry = registry
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let counter = Counter(label: "race_total", factory: registry)
                    let meter = Meter(label: "race_level", factory: registry)
                    for _ in 0..<1000 {
                        counter.increment()
                        meter.increment(by: 1)
                    }
                }
            }
        }
        #expect(lines.contains("race_total 8000"))
        #expect(lines.contains("race_level 8000"))
    }

    @Test func `the process's own numbers are read when somebody asks`() {
        ProcessMetrics(dataDirectory: "/tmp").register(in: registry)
        #expect(lines.contains("carillon_build_info{version=\"\(Release.version)\"} 1"))
        let memory = lines.first { $0.hasPrefix("process_resident_memory_bytes ") }?.split(separator: " ").last
        #expect(memory.flatMap { Int($0) } ?? 0 > 1_000_000)
        #expect(lines.contains { $0.hasPrefix("carillon_free_bytes ") })
    }

    @Test func `of a directory that is not there nothing is said`() {
        ProcessMetrics(dataDirectory: "/nowhere").register(in: registry)
        #expect(!lines.contains { $0.hasPrefix("carillon_free_bytes ") })
    }
}
