package import CoreMetrics
import Metrics

/// What the pipeline counts; the names are those of `GET /metrics`.
package struct PipelineMetrics: Sendable {
    /// What the sender of an event was told.
    enum EventEnding: String, CaseIterable {
        case accepted
        case duplicate
        case ignored
        case refused
    }

    /// What became of a delivery to a device, or of an attempt.
    enum DeliveryEnding: String, CaseIterable {
        case delivered
        case unregistered
        case expired
        case dead
        case suppressed
        case retry
    }

    private let factory: any MetricsFactory
    let events: Counters<EventEnding>
    private let commitSize: Recorder
    private let notified: Counter
    private let withoutDevice: Counter
    private let suppressed: Counters<ToggleLevel>
    private let withheld: Counter
    let deliveries: [ProviderName: Counters<DeliveryEnding>]
    let heldUnregistrations: Counters<ProviderName>
    let messages: Counters<RelayOutcome>
    let relayAge: Recorder
    private let expansionFailures: Counter
    private let staleSettles: Counter
    private let lostLeases: Counter
    private let queueAge: Gauge
    private let waitingEvents: Gauge
    private let waitingGroups: Gauge

    package init(factory: any MetricsFactory) {
        self.factory = factory
        events = Counters("carillon_events_total", by: "status", factory: factory)
        commitSize = Recorder(label: "carillon_group_commit_size", factory: factory)
        let users = "carillon_recipients_total"
        notified = Counter(label: users, dimensions: [("result", "notified")], factory: factory)
        withoutDevice = Counter(label: users, dimensions: [("result", "noDevice")], factory: factory)
        let isSuppressed = ("result", "suppressed")
        suppressed = Counters(users, by: "level", labels: [isSuppressed], factory: factory)
        withheld = Counter(label: users, dimensions: [isSuppressed, ("level", "endpoint")], factory: factory)
        deliveries = Dictionary(
            uniqueKeysWithValues: ProviderName.allCases.map { provider in
                let labels = [("provider", provider.rawValue)]
                return (
                    provider, Counters("carillon_deliveries_total", by: "outcome", labels: labels, factory: factory)
                )
            }
        )
        heldUnregistrations = Counters("carillon_held_unregistrations_total", by: "provider", factory: factory)
        messages = Counters("carillon_relay_total", by: "outcome", factory: factory)
        relayAge = Recorder(label: "carillon_relay_age_seconds", factory: factory)
        expansionFailures = Counter(label: "carillon_expansion_failures_total", factory: factory)
        staleSettles = Counter(label: "carillon_stale_settles_total", factory: factory)
        lostLeases = Counter(label: "carillon_lost_leases_total", factory: factory)
        queueAge = Gauge(label: "carillon_queue_age_seconds", factory: factory)
        waitingEvents = Gauge(label: "carillon_waiting_events", factory: factory)
        waitingGroups = Gauge(label: "carillon_waiting_groups", factory: factory)
    }

    func groupCommit(of size: Int) { commitSize.record(size) }

    func expanded(_ tally: RecipientTally, since before: RecipientTally) {
        notified.increment(by: tally.notified - before.notified)
        withoutDevice.increment(by: tally.noDevice - before.noDevice)
        for (level, count) in tally.suppressed {
            suppressed.count(level, by: count - before.suppressed[level, default: 0])
        }
        if tally.intercepted > before.intercepted { withheld.increment(by: tally.intercepted - before.intercepted) }
    }

    /// Questions to endpoints by how they ended, and how long those took that were asked.
    func intercepted(_ report: InterceptionReport) {
        let dimensions = [("outcome", report.outcome.rawValue), ("action", report.action.rawValue)]
        Counter(label: "carillon_interceptions_total", dimensions: dimensions, factory: factory).increment()
        guard report.outcome.isFailure != nil else { return }
        Recorder(label: "carillon_interception_seconds", factory: factory).record(Double(report.milliseconds) / 1000)
    }

    func failedExpansion(of count: Int) { expansionFailures.increment(by: count) }

    func staleSettle() { staleSettles.increment() }

    func lostLease() { lostLeases.increment() }

    func queueAge(_ age: Duration) { queueAge.record(Double(age.wholeMilliseconds) / 1000) }

    func waiting(events: Int) { waitingEvents.record(events) }

    func waiting(groups: Int) { waitingGroups.record(groups) }
}

enum RelayOutcome: String, CaseIterable {
    case delivered
    case gone
    case failed
    case retry
}
