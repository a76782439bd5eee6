import CarillonCore
import CarillonStore
import CoreMetrics
import Metrics

/// Whether the service can work, how far clocks are off, and how old the oldest snapshots are, as numbers that an alert can be made of.
struct ReadinessMetrics: Sendable {
    private struct OfPlacement {
        /// `nil` where there is one placement: it is ready when the service is.
        let ready: Gauge?
        let skew: Gauge
        let snapshotAge: Gauge
    }

    private let readiness: Readiness
    private let ready: Gauge
    private let placements: [PlacementName: OfPlacement]

    /// Metrics of a service.
    init(_ readiness: Readiness, factory: any MetricsFactory, placements: [PlacementName: any MetricsFactory]) {
        self.readiness = readiness
        ready = Gauge(label: "carillon_ready", factory: factory)
        self.placements = placements.mapValues { factory in
            OfPlacement(
                ready: placements.count > 1 ? Gauge(label: "carillon_placement_ready", factory: factory) : nil,
                skew: Gauge(label: "carillon_clock_skew_seconds", factory: factory),
                snapshotAge: Gauge(label: "carillon_oldest_snapshot_seconds", factory: factory)
            )
        }
    }

    /// Records what looks told; what could not be measured stays what it was. Answers whether all can be used.
    @discardableResult
    func record(_ answers: [PlacementName: ReadinessProbe.Answer]) -> Bool {
        var usable = 0
        for (name, answer) in answers {
            guard let metrics = placements[name] else { continue }
            if answer.reasons.isEmpty { usable += 1 }
            metrics.ready?.record(answer.reasons.isEmpty ? 1 : 0)
            if let milliseconds = answer.skew?.milliseconds { metrics.skew.record(Double(milliseconds) / 1000) }
            if let age = answer.snapshotAge { metrics.snapshotAge.record(age / .seconds(1)) }
        }
        ready.record(usable > 0 && readiness.problem == nil ? 1 : 0)
        return usable == answers.count
    }

    func stops() {
        ready.record(0)
        for placement in placements.values { placement.ready?.record(0) }
    }
}
