import CarillonCore
import Postgres

/// Reads the status of events of one network inside a transaction that sees one moment.
struct EventStatusReader {
    let network: NetworkID

    /// Whether there is such an event.
    func isKnown(_ id: EventID, _ session: borrowing PostgresSession) throws -> Bool {
        let known = try session.queryFirst(
            """
            SELECT EXISTS (SELECT FROM events WHERE network_id = \(network.rawValue) AND event_id = \(id.uuid))
                OR EXISTS (SELECT FROM inbox WHERE network_id = \(network.rawValue) AND event_id = \(id.uuid))
            """
        ) { row in try row.decode(0, as: Bool.self) }
        return known ?? false
    }

    /// The status of those that exist, in the order of `ids`.
    func statuses(of ids: [EventID], _ session: borrowing PostgresSession) throws -> [EventStatus] {
        guard !ids.isEmpty else { return [] }
        var statuses = try stored(ids, session)
        var suppressed: [EventID] = []
        try session.forEach(
            """
            SELECT event_id, sum(delivered), sum(unregistered), sum(expired), sum(dead), sum(suppressed)
            FROM outcomes WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid)))
            GROUP BY event_id
            """
        ) { row in
            let id = try row.eventID(0)
            statuses[id]?.deliveries[.delivered] = try row.decode(1, as: Int.self)
            statuses[id]?.deliveries[.unregistered] = try row.decode(2, as: Int.self)
            statuses[id]?.deliveries[.expired] = try row.decode(3, as: Int.self)
            statuses[id]?.deliveries[.dead] = try row.decode(4, as: Int.self)
            if try row.decode(5, as: Int.self) > 0 { suppressed.append(id) }
        }
        try session.forEach(
            """
            SELECT event_id, sum(size) FROM deliveries
            WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid))) GROUP BY event_id
            """
        ) { row in
            let id = try row.eventID(0)
            statuses[id]?.deliveries[.pending] = try row.decode(1, as: Int.self)
            if statuses[id]?.state == .done { statuses[id]?.state = .delivering }
        }
        for (id, ledger) in try ledgers(of: suppressed, session) { ledger.correct(&statuses[id]) }
        return ids.compactMap { statuses[$0] }
    }

    /// What is known of every device of these events.
    func ledgers(of ids: [EventID], _ session: borrowing PostgresSession) throws -> [EventID: DeliveryLedger] {
        guard !ids.isEmpty else { return [:] }
        var ledgers: [EventID: DeliveryLedger] = [:]
        try session.forEach(
            """
            SELECT event_id, provider, records FROM outcomes
            WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid))) ORDER BY at
            """
        ) { row in
            let records = try [DeviceRecord](stored: try row.decode(2))
            ledgers[try row.eventID(0), default: DeliveryLedger()].add(records, through: try row.choice(1))
        }
        try session.forEach(
            """
            SELECT event_id, provider, targets, attempt, run_at, CASE WHEN NOT leased THEN lane_reason END
            FROM deliveries
            WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid)))
            """
        ) { row in
            let attempt = try row.decode(3, as: Int.self)
            let at = try row.timestamp(4)
            let reason = try row.decode(5, as: String?.self)
            let pending = try [DeviceOwner](stored: try row.decode(2)).map { owner in
                DeviceRecord(
                    deviceID: owner.device,
                    userID: owner.user,
                    state: .pending,
                    attempts: attempt,
                    reason: reason,
                    at: at
                )
            }
            ledgers[try row.eventID(0), default: DeliveryLedger()].add(pending, through: try row.choice(1))
        }
        return ledgers
    }

    /// Says of devices that wait for their next attempt what their provider answered to the last one.
    func withTroubles(
        _ deliveries: [DeliveryStatus],
        _ session: borrowing PostgresSession
    ) throws -> [DeliveryStatus] {
        let waiting = deliveries.filter(\.waitsForNextAttempt).map(\.record.deviceID.rawValue)
        guard !waiting.isEmpty else { return deliveries }
        var errors: [DeviceID: String] = [:]
        try session.forEach(
            """
            SELECT device_id, error FROM devices
            WHERE network_id = \(network.rawValue) AND device_id = ANY (\(waiting)) AND error IS NOT NULL
            """
        ) { row in errors[try row.id(0)] = try row.decode(1, as: String.self) }
        return deliveries.map { delivery in
            var delivery = delivery
            if delivery.waitsForNextAttempt { delivery.record.reason = errors[delivery.record.deviceID] }
            return delivery
        }
    }

    /// What the events' own rows say; expanded ones are `done` as far as these know.
    private func stored(_ ids: [EventID], _ session: borrowing PostgresSession) throws -> [EventID: EventStatus] {
        let statuses = try session.query(
            """
            SELECT event_id, source_id, event_type, received_at, resolved, notified, suppressed_network, suppressed_user,
                   suppressed_channel, no_device, 'done', failure
            FROM events WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid)))
            UNION ALL
            SELECT event_id, source_id, event_type, received_at, resolved, notified, suppressed_network, suppressed_user,
                   suppressed_channel, no_device, CASE WHEN cursor IS NULL THEN 'accepted' ELSE 'delivering' END,
                   failure
            FROM inbox WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid)))
            """
        ) { row in
            var tally = RecipientTally()
            tally.resolved = try row.decode(4)
            tally.notified = try row.decode(5)
            tally.suppressed[.network] = try row.decode(6, as: Int.self)
            tally.suppressed[.user] = try row.decode(7, as: Int.self)
            tally.suppressed[.channel] = try row.decode(8, as: Int.self)
            tally.noDevice = try row.decode(9)
            return EventStatus(
                id: try row.eventID(0),
                sourceID: try row.decode(1),
                type: try row.choice(2),
                receivedAt: try row.timestamp(3),
                state: try row.choice(10),
                failure: try row.decode(11),
                recipients: tally,
                deliveries: [.pending: 0, .delivered: 0, .unregistered: 0, .expired: 0, .dead: 0]
            )
        }
        return Dictionary(statuses.map { ($0.id, $0) }) { first, _ in first }
    }
}
