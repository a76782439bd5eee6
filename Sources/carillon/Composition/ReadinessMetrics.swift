import CarillonStore
import CoreMetrics
import Metrics

/// Whether the service can work, how far its clock is off, and how old the oldest snapshot is, as numbers that an alert can be made of.
struct ReadinessMetrics: Sendable {
    private let ready: Gauge
    private let skew: Gauge
    private let snapshotAge: Gauge

    /// Metrics that are kept by `factory`.
    init(factory: any MetricsFactory) {
        ready = Gauge(label: "carillon_ready", factory: factory)
        skew = Gauge(label: "carillon_clock_skew_seconds", factory: factory)
        snapshotAge = Gauge(label: "carillon_oldest_snapshot_seconds", factory: factory)
    }

    /// Records what a look told; what could not be measured stays what it was.
    func record(_ answer: ReadinessProbe.Answer) {
        ready.record(answer.reasons.isEmpty ? 1 : 0)
        if let milliseconds = answer.skew?.milliseconds { skew.record(Double(milliseconds) / 1000) }
        if let age = answer.snapshotAge { snapshotAge.record(age / .seconds(1)) }
    }

    /// The service does not take on anything any more.
    func stops() { ready.record(0) }
}
