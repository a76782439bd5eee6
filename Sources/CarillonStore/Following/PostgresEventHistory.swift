package import CarillonCore
package import Foundation
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

    package func deadLetters(in network: NetworkID, after: UUID?, limit: Int) async throws -> [DeadLetter] {
        try await databases.of(network).pool.query(
            """
            SELECT letter_id, event_id, provider, app_id, cause, device_id, user_id, attempts, reason, at
            FROM dead_letters WHERE network_id = \(network.rawValue) AND letter_id > \(after ?? .smallest)
            ORDER BY letter_id LIMIT \(limit)
            """
        ) { row in
            let eventID = try row.eventID(1)
            return DeadLetter(
                id: try row.decode(0),
                eventID: eventID,
                eventType: try DeliveryCause(stored: row.storedCause(4), eventID: eventID).eventType,
                lane: Lane(networkID: network, provider: try row.choice(2), appID: try row.decode(3)),
                record: DeviceRecord(
                    deviceID: try row.id(5),
                    userID: try row.id(6),
                    state: .dead,
                    attempts: try row.decode(7),
                    reason: try row.decode(8),
                    at: try row.timestamp(9)
                )
            )
        }
    }

    /// Its notification counts as accepted now, so that it is worth delivering for as long as a new one.
    package func reviveDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Lane? {
        let database = try await databases.toWrite(network)
        let groupID = database.ids.next()
        return try await database.pool.write { session in
            let answers = try session.pipeline([
                "SELECT now()",
                """
                DELETE FROM dead_letters WHERE network_id = \(network.rawValue) AND letter_id = \(id)
                RETURNING event_id, provider, app_id, cause, locale, title, body, device_id, user_id, devices, content
                """,
            ])
            let now = try answers[0].map { row in try row.timestamp(0) }
            let revived = try answers[1].map { row in
                var cause = try DeliveryCause(stored: row.storedCause(3), eventID: row.eventID(0))
                cause.receivedAt = now[0]
                cause.isRevived = true
                let target = Target(deviceID: try row.id(7), userID: try row.id(8))
                let counts = try row.decode(9, as: Int?.self).map { $0 > 1 ? [target.userID: $0] : [:] }
                return DeliveryGroup(
                    id: groupID,
                    lane: Lane(networkID: network, provider: try row.choice(1), appID: try row.decode(2)),
                    cause: cause,
                    payload: .devices(DevicePush(try row.push(4, content: 10), deviceCounts: counts)),
                    targets: [target],
                    leased: false
                )
            }.first
            guard let revived else { return nil }
            try session.insert([revived])
            try session.execute(
                """
                INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead,
                                      suppressed, stopped_network, stopped_user, stopped_channel, revived, records)
                VALUES (\(network.rawValue), \(revived.cause.eventID.uuid),
                        \(revived.lane.provider.rawValue), now(), 0, 0, 0, -1, 0, 0, 0, 0,
                        \(revived.targets[0].deviceID.rawValue), '[]')
                """
            )
            return revived.lane
        }
    }

    package func deleteDeadLetter(_ id: UUID, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.execute(
            "DELETE FROM dead_letters WHERE network_id = \(network.rawValue) AND letter_id = \(id)"
        ) > 0
    }

    /// Replicas that hold some of it in memory look at it again before they send it, as after a change of toggles.
    package func withdraw(_ id: EventID, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
            guard try EventStatusReader(network: network).isKnown(id, session) else { return false }
            try session.execute(
                """
                INSERT INTO withdrawals (network_id, event_id, withdrawn_at)
                VALUES (\(network.rawValue), \(id.uuid), now())
                ON CONFLICT (network_id, event_id) DO UPDATE SET withdrawn_at = EXCLUDED.withdrawn_at
                """
            )
            // Waits for whoever writes a page of it just now, so that its deliveries are seen below. Whoever looks for its
            // recipients has lost it; whoever claims it next ends it, and tells endpoints of it all the same.
            _ = try session.executeOnQueue(
                """
                UPDATE inbox i SET withdrawn = true, leased = false, lease_token = i.lease_token + 1, run_at = now()
                WHERE i.network_id = \(network.rawValue) AND i.event_id = \(id.uuid)
                """
            )
            _ = try session.executeOnQueue(
                """
                UPDATE deliveries d SET expires_at = least(d.expires_at, now())
                FROM (SELECT group_id FROM deliveries
                      WHERE network_id = \(network.rawValue) AND event_id = \(id.uuid) AND provider <> 'relay'
                      ORDER BY group_id FOR NO KEY UPDATE) AS waiting
                WHERE d.network_id = \(network.rawValue) AND d.group_id = waiting.group_id
                """
            )
            try session.recordChanges(of: [(network, nil)])
            return true
        }
    }
}
