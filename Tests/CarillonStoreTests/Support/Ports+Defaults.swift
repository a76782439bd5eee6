import CarillonCore
import Foundation

extension EventInbox {
    func release(_ events: [PendingEvent]) async throws { try await release(events, after: .zero) }

    func claimEvents(limit: Int) async throws -> [PendingEvent] {
        try await claimEvents(limit: limit, excluding: [])
    }

    /// Waits for what others are writing as long as for a network that is alone in its batch.
    func accept(_ events: [IncomingEvent]) async throws -> [Acceptance] {
        try await accept(events, lockWait: .milliseconds(300))
    }
}

extension OutboxClaims {
    func claimExpired(limit: Int) async throws -> [RefreshedGroup] {
        try await claimExpired(limit: limit, excluding: [])
    }

    func release(_ groups: [DeliveryGroup], after delay: Duration) async throws {
        try await release(groups, after: delay, laneReason: nil)
    }
}

extension OutcomeLog {
    /// Waits for what others are writing.
    func settle(_ settlements: [Settlement]) async throws -> SettleReceipt {
        try await settle(settlements, lockWait: .seconds(5))
    }
}

extension LaneStore {
    func makeDue(_ lanes: LaneSelection) async throws { try await makeDue(lanes, excluding: []) }
}

extension EventHistory {
    func deliveries(
        of id: EventID,
        in network: NetworkID,
        after cursor: DeliveryCursor?,
        limit: Int
    ) async throws -> DeliveryPage? {
        try await deliveries(of: id, in: network, matching: DeliveryFilter(), after: cursor, limit: limit)
    }

    func events(in network: NetworkID, before event: EventID?, limit: Int) async throws -> [EventStatus] {
        try await events(in: network, matching: EventFilter(), before: event, limit: limit).items
    }
}

extension DeadLetterStore {
    func retryDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Bool {
        try await reviveDeadLetter(id, in: network) != nil
    }
}
