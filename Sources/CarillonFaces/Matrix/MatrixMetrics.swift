import CarillonCore
import Metrics

/// What becomes of a device that a notification names.
enum MatrixOutcome: String, Sendable, CaseIterable {
    /// It is notified.
    case taken
    /// It is not in use, but not long enough for the homeserver to forget it.
    case unused
    /// The homeserver is told to forget it.
    case rejected
    /// Nobody has bound its app.
    case unbound
    /// Its app is notified by those with a gateway key.
    case withoutKey
    /// Its app is notified from other addresses.
    case fromElsewhere
    /// Its push service must not be called.
    case blocked
    /// There is nothing that it would be sent.
    case empty
    /// It is notified without what its app wants in every payload: that is no object.
    case badDefaultPayload
}

struct MatrixMetrics: Sendable {
    private let counters: [MatrixOutcome: Counter]

    init(factory: any MetricsFactory) {
        counters = Dictionary(
            uniqueKeysWithValues: MatrixOutcome.allCases.map { outcome in
                let (label, dimensions) = ("carillon_matrix_devices_total", [("outcome", outcome.rawValue)])
                return (outcome, Counter(label: label, dimensions: dimensions, factory: factory))
            }
        )
    }

    func count(_ outcomes: [MatrixOutcome: Int]) {
        for (outcome, count) in outcomes where count > 0 { counters[outcome]?.increment(by: count) }
    }
}
