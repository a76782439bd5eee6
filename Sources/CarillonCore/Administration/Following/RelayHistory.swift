/// Where a message to an endpoint stands.
package enum RelayState: String, Sendable, CaseIterable {
    case pending
    /// The endpoint took it.
    case delivered
    /// It was given up, and can be sent again by hand.
    case failed
}

/// One message to an endpoint.
package struct RelayDelivery: Sendable, Equatable {
    package var eventID: EventID
    package var eventType: EventType
    package var state: RelayState
    package var attempts: Int
    /// What was answered last; `nil` before the first attempt.
    package var answer: RelayAnswer?
    /// When that was; of one that was not sent yet, when it is to be.
    package var at: Timestamp

    package init(
        eventID: EventID,
        eventType: EventType,
        state: RelayState,
        attempts: Int,
        answer: RelayAnswer?,
        at: Timestamp
    ) {
        self.eventID = eventID
        self.eventType = eventType
        self.state = state
        self.attempts = attempts
        self.answer = answer
        self.at = at
    }
}

/// Which events an endpoint is to be told of once more.
package struct ReplayOrder: Sendable, Equatable {
    /// Accepted then or later.
    package var from: Timestamp
    /// Accepted before.
    package var to: Timestamp
    package var types: [String]
    /// Only those that it did not take.
    package var onlyFailed: Bool

    package init(from: Timestamp, to: Timestamp, types: [String], onlyFailed: Bool) {
        self.from = from
        self.to = to
        self.types = types
        self.onlyFailed = onlyFailed
    }
}

/// Of how many events an endpoint is told once more.
package struct ReplayCount: Sendable, Equatable {
    package var events: Int
    /// Whether there may be more: of a long time only the beginning is counted.
    package var hasMore: Bool

    package init(events: Int, hasMore: Bool = false) {
        self.events = events
        self.hasMore = hasMore
    }
}

/// An endpoint is told of former events already: one order at a time.
package struct ReplayUnderWay: Error, Sendable, Equatable {
    package init() {}
}

/// What became of the wish to send a message again.
package enum RelayRetry: Sendable, Equatable {
    /// It is due now.
    case queued
    /// The endpoint was not told of such an event.
    case unknown
    case bodyGone
}

/// Answers what endpoints were told, and tells them again.
package protocol RelayHistory: Sendable {
    /// Messages to an endpoint, the latest events first, before `event` where one is named; of one event if `only` names it.
    func relayDeliveries(
        to endpoint: EndpointID,
        in network: NetworkID,
        state: RelayState?,
        only: EventID?,
        before event: EventID?,
        limit: Int
    ) async throws -> [RelayDelivery]
    /// Makes a message due now, with a new life until `expiry`, if that is longer; one that is on its way keeps its attempts.
    func retryRelay(
        of event: EventID,
        to endpoint: EndpointID,
        in network: NetworkID,
        until expiry: Timestamp
    ) async throws -> RelayRetry
    /// Begins to tell an endpoint of events once more; answers of how many, as far as they are counted.
    /// - Throws: ``ReplayUnderWay``.
    func beginReplay(_ order: ReplayOrder, to endpoint: EndpointID, in network: NetworkID) async throws -> ReplayCount
}

/// What endpoints are to be told once more.
package protocol ReplayQueue: Sendable {
    /// Queues the next messages of all that is told once more, as far as what is queued for the same endpoint leaves room: what
    /// has just happened goes first. Answers whether there is more to be queued soon.
    func continueReplays() async throws -> Bool
}

/// How many messages wait for an endpoint at the most while it is told of former events.
package let replayBacklog = 500
