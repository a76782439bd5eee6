package import CoreMetrics
import Metrics

/// What is counted of polls; the names are those of `GET /metrics`.
package struct PollMetrics: Sendable {
    /// What came of asking a source once.
    enum Ending: String, CaseIterable {
        /// It had something.
        case page
        /// It had nothing new.
        case empty
        /// It did not answer, or nothing that is an answer.
        case failed
        /// It was not asked, or not heard, through no fault of its own, and is asked again soon.
        case deferred
        /// It was somebody else's by then, or its settings had changed.
        case lost
    }

    private let polls: [Ending: Counter]
    private let accepted: Counter
    private let duplicates: Counter
    private let skippedItems: Counter

    package init(factory: any MetricsFactory) {
        polls = Dictionary(
            uniqueKeysWithValues: Ending.allCases.map { outcome in
                let dimensions = [("outcome", outcome.rawValue)]
                return (outcome, Counter(label: "carillon_polls_total", dimensions: dimensions, factory: factory))
            }
        )
        let items = "carillon_poll_items_total"
        accepted = Counter(label: items, dimensions: [("result", "accepted")], factory: factory)
        duplicates = Counter(label: items, dimensions: [("result", "duplicate")], factory: factory)
        skippedItems = Counter(label: items, dimensions: [("result", "skipped")], factory: factory)
    }

    func polled(_ outcome: Ending) { polls[outcome]?.increment() }

    func accepted(_ acceptances: [Acceptance]) {
        for acceptance in acceptances {
            switch acceptance {
            case .accepted: accepted.increment()
            case .duplicate: duplicates.increment()
            }
        }
    }

    func skipped(_ count: Int) {
        if count > 0 { skippedItems.increment(by: count) }
    }
}
