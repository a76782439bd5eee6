import CarillonCore
import Postgres

/// Reads the status of events of one network inside a transaction that sees one moment.
struct EventStatusReader {
    let network: NetworkID

    /// Whether there is such an event.
    func isKnown(_ id: EventID, _ session: borrowing PostgresSession) throws -> Bool {
        try session.first(
            """
            SELECT EXISTS (SELECT FROM events WHERE network_id = \(network.rawValue) AND event_id = \(id.uuid))
                OR EXISTS (SELECT FROM inbox WHERE network_id = \(network.rawValue) AND event_id = \(id.uuid))
            """
        ) ?? false
    }

    /// Those of some events that are messages to channels of which no members were known but who sent them.
    func unreadMessages(among ids: Set<EventID>, _ session: borrowing PostgresSession) throws -> Set<EventID> {
        let messages = try session.query(
            """
            SELECT event_id FROM events
            WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid)))
                AND event_type = \(EventType.messageSent.rawValue) AND why = ANY (\(WhyNobody.withoutMembers.map(\.rawValue)))
            """
        ) { row in try row.eventID(0) }
        return Set(messages)
    }

    /// The status of those that exist, in the order of `ids`.
    func statuses(of ids: [EventID], _ session: borrowing PostgresSession) throws -> [EventStatus] {
        guard !ids.isEmpty else { return [] }
        var statuses = try stored(ids, session)
        var uncounted: [EventID] = []
        var stopped: [EventID] = []
        try session.forEach(
            """
            SELECT event_id, sum(delivered), sum(unregistered), sum(expired), sum(dead), sum(suppressed),
                   sum(stopped_network), sum(stopped_user), sum(stopped_channel),
                   bool_or(suppressed > 0 AND stopped_user IS NULL)
            FROM outcomes WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid)))
            GROUP BY event_id
            """
        ) { row in
            let id = try row.eventID(0)
            statuses[id]?.deliveries[.delivered] = try row.decode(1, as: Int.self)
            statuses[id]?.deliveries[.unregistered] = try row.decode(2, as: Int.self)
            statuses[id]?.deliveries[.expired] = try row.decode(3, as: Int.self)
            statuses[id]?.deliveries[.dead] = try row.decode(4, as: Int.self)
            let suppressed = try row.decode(5, as: Int.self)
            guard suppressed > 0 else { return }
            guard try !row.decode(9, as: Bool.self) else { return uncounted.append(id) }
            stopped.append(id)
            // Those of users who were reached on another device; users with several are taken off below.
            statuses[id]?.deliveries[.expired, default: 0] += suppressed
            for (column, level) in [(6, ToggleLevel.network), (7, .user), (8, .channel)] {
                let users = try row.decode(column, as: Int.self)
                statuses[id]?.stop(users, devices: users, by: level)
            }
        }
        try countStopped(stopped, &statuses, session)
        try session.forEach(
            """
            SELECT event_id, sum(size) FROM deliveries
            WHERE event_id = ANY (\(ids.map(\.uuid))) AND greatest(network_id) = \(network.rawValue) AND provider <> 'relay'
            GROUP BY event_id
            """
        ) { row in
            let id = try row.eventID(0)
            statuses[id]?.deliveries[.pending] = try row.decode(1, as: Int.self)
            if statuses[id]?.state == .done { statuses[id]?.state = .delivering }
        }
        for (id, ledger) in try ledgers(of: uncounted, session) { ledger.correct(&statuses[id]) }
        return ids.compactMap { statuses[$0] }
    }

    /// Whether an event can only be listed by reading all that is known of it: some of it was written by a release that did
    /// not number the rows of the log, or did not count whom toggles stopped.
    func isUncounted(_ id: EventID, _ session: borrowing PostgresSession) throws -> Bool {
        try session.first(
            """
            SELECT EXISTS (
                SELECT FROM outcomes
                WHERE network_id = \(network.rawValue) AND event_id = \(id.uuid)
                    AND (number IS NULL OR suppressed > 0 AND stopped_user IS NULL OR dead < 0 AND revived IS NULL))
            """
        ) ?? false
    }

    /// Counts the users all of whose several devices were stopped.
    private func countStopped(
        _ ids: [EventID],
        _ statuses: inout [EventID: EventStatus],
        _ session: borrowing PostgresSession
    ) throws {
        guard !ids.isEmpty else { return }
        try session.forEach(
            """
            SELECT event_id, level, count(*), sum(stopped) FROM stopped_users
            WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid))) AND stopped = devices
            GROUP BY event_id, level
            """
        ) { row in
            let (users, devices) = (try row.decode(2, as: Int.self), try row.decode(3, as: Int.self))
            statuses[try row.eventID(0)]?.stop(users, devices: devices, by: try row.choice(1))
        }
    }

    /// What is known of every device of these events.
    func ledgers(of ids: [EventID], _ session: borrowing PostgresSession) throws -> [EventID: DeliveryLedger] {
        guard !ids.isEmpty else { return [:] }
        var ledgers: [EventID: DeliveryLedger] = [:]
        try session.forEach(
            """
            SELECT event_id, provider, records FROM outcomes
            WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid))) ORDER BY at, number
            """
        ) { row in
            let records = try [DeviceRecord](stored: try row.decode(2))
            ledgers[try row.eventID(0), default: DeliveryLedger()].add(records, through: try row.choice(1))
        }
        try session.forEach(
            """
            SELECT event_id, provider, targets, attempt, run_at, CASE WHEN NOT leased THEN lane_reason END
            FROM deliveries
            WHERE event_id = ANY (\(ids.map(\.uuid))) AND greatest(network_id) = \(network.rawValue) AND provider <> 'relay'
            """
        ) { row in
            let attempt = try row.decode(3, as: Int.self)
            let at = try row.timestamp(4)
            let reason = try row.decode(5, as: String?.self)
            let provider = try row.choice(1, of: ProviderName.self)
            let pending = try [Target](stored: try row.decode(2))
                .map { $0.pending(attempt, at, reason, through: provider).record }
            ledgers[try row.eventID(0), default: DeliveryLedger()].add(pending, through: provider)
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
                   suppressed_channel, no_device, 'done', failure, intercepted, interception, channel_id, actor_id, why, trace
            FROM events WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid)))
            UNION ALL
            SELECT event_id, source_id, event_type, received_at, resolved, notified, suppressed_network, suppressed_user,
                   suppressed_channel, no_device, CASE WHEN cursor IS NULL THEN 'accepted' ELSE 'delivering' END,
                   failure, intercepted, interception, channel_id, actor_id, NULL, trace
            FROM inbox WHERE network_id = \(network.rawValue) AND event_id = ANY (\(ids.map(\.uuid)))
            """
        ) { row in
            var status = EventStatus(
                id: try row.eventID(0),
                sourceID: try row.decode(1),
                type: EventType(try row.decode(2)),
                receivedAt: try row.timestamp(3),
                state: try row.choice(10),
                recipients: try row.tally(at: 4, intercepted: 12),
                deliveries: [.pending: 0, .delivered: 0, .unregistered: 0, .expired: 0, .dead: 0]
            )
            status.failure = try row.decode(11)
            status.interception = try row.decode(13, as: String?.self).flatMap { Verdict(stored: $0) }?.report
            status.channelID = try row.decode(14, as: String?.self).map(ChannelID.init(trusted:))
            status.actorID = try row.decode(15, as: String?.self).map(UserID.init(trusted:))
            status.why = try row.decode(16, as: String?.self).flatMap(WhyNobody.init)
            status.trace = try row.trace(17)
            return status
        }
        return Dictionary(statuses.map { ($0.id, $0) }) { first, _ in first }
    }
}

extension EventStatus {
    /// Counts users as suppressed all of whose devices were stopped, and their devices no more.
    fileprivate mutating func stop(_ users: Int, devices: Int, by level: ToggleLevel) {
        recipients.notified -= users
        recipients.suppressed[level, default: 0] += users
        deliveries[.expired, default: 0] -= devices
    }
}

extension Target {
    /// Their device, on its way.
    func pending(
        _ attempt: Int,
        _ at: Timestamp,
        _ reason: String?,
        through provider: ProviderName
    ) -> DeliveryStatus {
        let record = DeviceRecord(self, .pending, attempts: attempt, reason: reason, at: at)
        return DeliveryStatus(record: record, provider: provider)
    }
}
