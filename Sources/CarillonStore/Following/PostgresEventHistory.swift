package import CarillonCore
import Foundation
import Postgres

/// Answers what became of events from the inbox, the log of events, the queue and the log of outcomes.
package struct PostgresEventHistory: EventHistory, DeadLetterStore {
    let databases: Placed<PlacementDatabase>

    package init(_ databases: Placed<PlacementDatabase>) {
        self.databases = databases
    }

    package func event(_ id: EventID, in network: NetworkID) async throws -> EventStatus? {
        try await databases.of(network).pool.snapshot { session in
            try EventStatusReader(network: network).statuses(of: [id], session).first
        }
    }

    package func unreadMessages(among events: Set<EventID>, in network: NetworkID) async throws -> Set<EventID> {
        guard !events.isEmpty else { return [] }
        return try await databases.of(network).pool.snapshot { session in
            try EventStatusReader(network: network).unreadMessages(among: events, session)
        }
    }

    package func event(sourceID: String, in network: NetworkID) async throws -> EventStatus? {
        try await databases.of(network).pool.snapshot { session in
            let id = try session.queryFirst(
                """
                SELECT event_id FROM event_keys WHERE network_id = \(network.rawValue) AND source_id = \(sourceID)
                """
            ) { row in try row.eventID(0) }
            guard let id else { return nil }
            return try EventStatusReader(network: network).statuses(of: [id], session).first
        }
    }

    package func events(
        in network: NetworkID,
        matching filter: EventFilter,
        before event: EventID?,
        limit: Int
    ) async throws -> EventPage {
        try await databases.of(network).pool.snapshot { session in
            let search = EventSearch(network: network, filter: filter)
            let (ids, next) = try search.page(before: event, limit: limit, session)
            let items = try EventStatusReader(network: network).statuses(of: ids, session)
            return EventPage(items: items, next: next)
        }
    }

    package func deliveries(
        of id: EventID,
        in network: NetworkID,
        matching filter: DeliveryFilter,
        after cursor: DeliveryCursor?,
        limit: Int
    ) async throws -> DeliveryPage? {
        try await databases.of(network).pool.snapshot { session in
            let reader = EventStatusReader(network: network)
            guard try reader.isKnown(id, session) else { return nil }
            var page: DeliveryPage
            if try Self.needsLedger(id, after: cursor, reader, session) {
                page = try reader.ledgers(of: [id], session)[id, default: DeliveryLedger()].page(
                    matching: filter,
                    after: cursor,
                    limit: limit
                )
            } else {
                let reader = DeliveryPageReader(network: network, event: id, filter: filter, limit: limit)
                page = try reader.page(after: cursor, session)
            }
            page.items = try reader.withTroubles(page.items, session)
            return page
        }
    }

    package func failures(
        in network: NetworkID,
        _ query: FailureQuery,
        after cursor: FailureCursor?,
        limit: Int
    ) async throws -> [FailedDelivery] {
        try await databases.of(network).pool.snapshot { session in
            try FailureReader(network: network, query: query, limit: limit).failures(after: cursor, session)
        }
    }

    /// A list that was begun in one order is ended in it.
    private static func needsLedger(
        _ id: EventID,
        after cursor: DeliveryCursor?,
        _ reader: EventStatusReader,
        _ session: borrowing PostgresSession
    ) throws -> Bool {
        switch cursor {
        case nil: try reader.isUncounted(id, session)
        case .device: true
        case .failed, .pending, .settled: false
        }
    }
}
