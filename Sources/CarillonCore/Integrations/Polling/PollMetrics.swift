package import CoreMetrics

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

    /// What came of an item of a page.
    enum Item: String, CaseIterable {
        case accepted
        case duplicate
        case skipped
    }

    let polls: Counters<Ending>
    let items: Counters<Item>

    package init(factory: any MetricsFactory) {
        polls = Counters("carillon_polls_total", by: "outcome", factory: factory)
        items = Counters("carillon_poll_items_total", by: "result", factory: factory)
    }

    func count(_ acceptances: [Acceptance]) {
        for acceptance in acceptances { items.count(acceptance.isDuplicate ? .duplicate : .accepted) }
    }
}
