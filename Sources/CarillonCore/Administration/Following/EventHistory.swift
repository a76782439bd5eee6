package import Foundation

/// How far an event is (API section 8).
package enum EventState: String, Sendable, CaseIterable {
    /// Durable; its recipients have not all been found yet.
    case accepted
    case delivering
    /// Every device of every notified recipient has its final state.
    case done
}

package struct EventStatus: Sendable, Equatable {
    package var id: EventID
    /// The sender's id.
    package var sourceID: String
    package var type: EventType
    /// In which channel, as far as that is known.
    package var channelID: ChannelID?
    /// Who caused it, as far as that is known.
    package var actorID: UserID?
    package var receivedAt: Timestamp
    package var state: EventState
    /// Why its recipients cannot be found, as far as that was tried: it is tried again, unless it is ``EventState/done``.
    package var failure: String?
    /// Counts of users. Those whom a toggle stopped after the expansion count as suppressed.
    package var recipients: RecipientTally
    /// Why they are none; `nil` where they are some, or none were to be found.
    package var why: WhyNobody?
    /// Counts of devices by state; ``DeliveryState/suppressed`` is never among them.
    package var deliveries: [DeliveryState: Int]
    /// What came of asking an endpoint; `nil` when none was asked.
    package var interception: InterceptionReport?
    /// Where it stands in a trace of its sender's.
    package var trace: TraceContext?

    package init(
        id: EventID,
        sourceID: String,
        type: EventType,
        receivedAt: Timestamp,
        state: EventState,
        recipients: RecipientTally,
        deliveries: [DeliveryState: Int]
    ) {
        self.id = id
        self.sourceID = sourceID
        self.type = type
        self.receivedAt = receivedAt
        self.state = state
        self.recipients = recipients
        self.deliveries = deliveries
    }
}

/// One device of one event.
package struct DeliveryStatus: Sendable, Equatable {
    /// The device's latest record. Of a pending one `attempts` are those so far, `reason` is what is wrong with its lane or
    /// what was answered last, and `at` when it is to be tried next.
    package var record: DeviceRecord
    /// The provider it goes through.
    package var provider: ProviderName

    /// Whether it was tried, and is to be tried again for no fault of its lane.
    package var waitsForNextAttempt: Bool { record.state == .pending && record.attempts > 0 && record.reason == nil }

    package init(record: DeviceRecord, provider: ProviderName) {
        self.record = record
        self.provider = provider
    }
}

/// A delivery given up, which an admin can send again.
package struct DeadLetter: Sendable, Equatable {
    /// Its id, a UUIDv7.
    package var id: UUID
    package var eventID: EventID
    package var eventType: EventType
    package var lane: Lane
    package var record: DeviceRecord

    package init(id: UUID, eventID: EventID, eventType: EventType, lane: Lane, record: DeviceRecord) {
        self.id = id
        self.eventID = eventID
        self.eventType = eventType
        self.lane = lane
        self.record = record
    }
}

/// Answers what became of events.
package protocol EventHistory: Sendable {
    /// An event by our id; `nil` when unknown or older than the retention.
    func event(_ id: EventID, in network: NetworkID) async throws -> EventStatus?
    /// An event by the sender's id.
    func event(sourceID: String, in network: NetworkID) async throws -> EventStatus?
    /// Those of some messages of which it is known by now that nobody was there to read them: their channels had no members but
    /// who sent them.
    func unreadMessages(among events: Set<EventID>, in network: NetworkID) async throws -> Set<EventID>
    /// A page of the events that `filter` lets through, newest first and at most `limit`, before `event` where one is named.
    func events(in network: NetworkID, matching filter: EventFilter, before event: EventID?, limit: Int) async throws
        -> EventPage
    /// A page of the devices of an event that `filter` lets through, at most `limit`; `nil` when the event is unknown.
    ///
    /// Somebody who turns all pages meets every device of which nothing new is written meanwhile exactly once, and one that is
    /// settled meanwhile at least once.
    func deliveries(
        of id: EventID,
        in network: NetworkID,
        matching filter: DeliveryFilter,
        after cursor: DeliveryCursor?,
        limit: Int
    ) async throws -> DeliveryPage?
    /// Whom notifications did not reach, behind `cursor`: at most `limit`, and none only when there are no more. What is revived
    /// by hand later stays in the list.
    func failures(in network: NetworkID, _ query: FailureQuery, after cursor: FailureCursor?, limit: Int) async throws
        -> [FailedDelivery]
    /// Takes back what of an event still waits: it ends as `expired` for the reason `withdrawn`, and of an event whose
    /// recipients have not all been found, no more are looked for. What is being sent at this moment may arrive. `false` when
    /// the event is unknown.
    func withdraw(_ id: EventID, in network: NetworkID) async throws -> Bool
}

/// What was given up.
package protocol DeadLetterStore: Sendable {
    /// What was given up, oldest first.
    func deadLetters(in network: NetworkID, after: UUID?, limit: Int) async throws -> [DeadLetter]
    /// Puts a dead letter back into the queue with a new life; answers its lane, `nil` when there is none: twice in parallel
    /// revives once.
    func reviveDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Lane?
    /// Forgets a dead letter; `false` when there is none.
    func deleteDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Bool
}
