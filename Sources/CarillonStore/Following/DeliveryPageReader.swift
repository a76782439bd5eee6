import CarillonCore
import Foundation
import Postgres

/// Reads a page of an event's devices: first what had failed when the list was begun, then what is on its way, group by group, then the
/// rest of the log, row by row. What it reads is bounded by what the page holds, however many devices the event has.
///
/// The log is append-only and a row comes to it with the transaction that takes its devices off the queue, so whoever has
/// seen the whole queue and goes through the log from its beginning meets every device.
struct DeliveryPageReader {
    private typealias Entry = (status: DeliveryStatus, cursor: DeliveryCursor)

    /// What is read of the log in one go through it.
    private enum Part {
        /// What had failed when the list was begun.
        case failures
        case rest
    }

    let network: NetworkID
    let event: EventID
    let filter: DeliveryFilter
    let limit: Int

    /// The page behind `cursor`, or the first one.
    func page(after cursor: DeliveryCursor?, _ session: borrowing PostgresSession) throws -> DeliveryPage {
        var entries: [Entry] = []
        switch cursor {
        case .settled(let row, let entry, let horizon):
            try readLog(.rest, from: row, after: entry, horizon, &entries, session)
        case .pending(let group, let device, let horizon):
            try readPending(from: group, after: device, horizon, &entries, session)
            try readLog(.rest, from: 0, after: nil, horizon, &entries, session)
        case .failed(let row, let entry, let horizon):
            try readLog(.failures, from: row, after: entry, horizon, &entries, session)
            try readPending(from: nil, after: nil, horizon, &entries, session)
            try readLog(.rest, from: 0, after: nil, horizon, &entries, session)
        case .device, nil:
            let horizon = try horizon(session)
            try readLog(.failures, from: 0, after: nil, horizon, &entries, session)
            try readPending(from: nil, after: nil, horizon, &entries, session)
            try readLog(.rest, from: 0, after: nil, horizon, &entries, session)
        }
        let shown = entries.prefix(limit)
        return DeliveryPage(
            items: shown.map(\.status),
            next: entries.count > limit ? shown.last?.cursor : nil
        )
    }

    /// One more than the page holds says whether there is a next one.
    private func wanted(_ entries: [Entry]) -> Int { max(0, limit + 1 - entries.count) }

    /// The last row of the log.
    private func horizon(_ session: borrowing PostgresSession) throws -> Int64 {
        try session.first(
            """
            SELECT number FROM outcomes
            WHERE network_id = \(network.rawValue) AND event_id = \(event.uuid) AND number IS NOT NULL
            ORDER BY network_id DESC, event_id DESC, number DESC LIMIT 1
            """,
            as: Int64.self
        ) ?? 0
    }

    private func readPending(
        from start: UUID?,
        after device: DeviceID?,
        _ horizon: Int64,
        _ entries: inout [Entry],
        _ session: borrowing PostgresSession
    ) throws {
        guard filter.states?.contains(.pending) ?? true else { return }
        var (last, device) = (start, device)
        while wanted(entries) > 0 {
            let groups = try pendingGroups(
                device == nil ? ">" : ">=",
                last ?? .smallest,
                wanted: wanted(entries),
                session
            )
            guard let end = groups.last?.id else { return }
            for group in groups {
                for status in group.statuses {
                    // The rest of a group that was shown in part goes by ids: it may have shrunk meanwhile.
                    if group.id == start, let device, status.record.deviceID <= device { continue }
                    guard filter.matches(status) else { continue }
                    let id = status.record.deviceID
                    entries.append((status, .pending(group: group.id, device: id, horizon: horizon)))
                }
            }
            (last, device) = (end, nil)
        }
    }

    private func pendingGroups(
        _ comparison: SQL,
        _ bound: UUID,
        wanted: Int,
        _ session: borrowing PostgresSession
    ) throws -> [(id: UUID, statuses: [DeliveryStatus])] {
        try session.queryQueue(
            """
            SELECT d.group_id, d.provider, d.targets, d.attempt, d.run_at, d.reason
            FROM (
                SELECT d.*, sum(d.size) OVER (ORDER BY d.group_id) - d.size AS before
                FROM (
                    SELECT group_id, provider, targets, attempt, run_at, size, CASE WHEN NOT leased THEN lane_reason END AS reason
                    FROM deliveries
                    WHERE event_id = \(event.uuid) AND greatest(network_id) = \(network.rawValue)
                        AND greatest(group_id) \(sql: comparison) \(bound) AND provider <> 'relay'
                        \(sql: mayMatch(in: "targets"))
                    ORDER BY event_id, greatest(group_id) LIMIT \(wanted + 1)
                ) AS d
            ) AS d
            WHERE d.before < \(wanted + DeliveryGroup.maximumTargets) ORDER BY d.group_id
            """
        ) { row in
            let provider = try row.choice(1, of: ProviderName.self)
            let (attempt, at) = (try row.decode(3, as: Int.self), try row.timestamp(4))
            let reason = try row.decode(5, as: String?.self)
            let owners = try [Target](stored: try row.decode(2)).sorted { $0.deviceID < $1.deviceID }
            return (try row.decode(0), owners.map { $0.pending(attempt, at, reason, through: provider) })
        }
    }

    private func readLog(
        _ part: Part,
        from start: Int64,
        after entry: Int?,
        _ horizon: Int64,
        _ entries: inout [Entry],
        _ session: borrowing PostgresSession
    ) throws {
        guard let condition = mayMatch(part, horizon) else { return }
        var (first, skipped) = (start, entry.map { $0 + 1 } ?? 0)
        while wanted(entries) > 0 {
            let rows = try logRows(from: first, where: condition, wanted: wanted(entries), session)
            guard let end = rows.last?.number else { return }
            var found: [Entry] = []
            for row in rows {
                for (index, status) in row.statuses.enumerated().dropFirst(row.number == first ? skipped : 0) {
                    let hadFailed = row.number <= horizon && FailedDelivery.states.contains(status.record.state)
                    guard hadFailed == (part == .failures) else { continue }
                    let cursor: DeliveryCursor =
                        hadFailed
                        ? .failed(row: row.number, entry: index, horizon: horizon)
                        : .settled(row: row.number, entry: index, horizon: horizon)
                    found.append((status, cursor))
                }
            }
            entries += try final(found, until: horizon, session).filter { filter.matches($0.status) }
            (first, skipped) = (end + 1, 0)
        }
    }

    /// Whether a row of the log may hold a device that is looked for; `nil` where none can.
    private func mayMatch(_ part: Part, _ horizon: Int64) -> SQL? {
        let kinds: [(states: Set<DeliveryState>, condition: SQL)] = [
            ([.dead], "dead > 0"), ([.expired], "expired > 0"), ([.unregistered], "unregistered > 0"),
            ([.delivered], "delivered > 0"),
            // Of users who were reached on another device it counts as expired.
            ([.suppressed, .expired], "suppressed > 0"),
        ]
        func any(_ kinds: some Collection<(states: Set<DeliveryState>, condition: SQL)>) -> SQL? {
            let meant = kinds.filter { !$0.states.isDisjoint(with: filter.states ?? Set(DeliveryState.allCases)) }
            guard let first = meant.first?.condition else { return nil }
            return meant.dropFirst().reduce(first) { all, kind in all + " OR " + kind.condition }
        }
        switch part {
        case .failures:
            guard let failures = any(kinds.prefix(3)) else { return nil }
            return "AND number <= \(horizon) AND (\(sql: failures)) \(sql: mayMatch(in: "records"))"
        case .rest:
            guard let news = any(kinds) else { return nil }
            let others = any(kinds.dropFirst(3)) ?? "false"
            return """
                AND (\(sql: others) OR number > \(horizon) AND (\(sql: news))) \(sql: mayMatch(in: "records"))
                """
        }
    }

    /// Whether a row is of the provider that is looked for, and may be of the user, by a column that names users in JSON.
    private func mayMatch(in column: SQL) -> SQL {
        var condition: SQL = ""
        if let provider = filter.provider { condition = condition + " AND provider = \(provider.rawValue)" }
        if let user = filter.userID {
            let name = JSONValue.string(user.rawValue).serializedText
            condition = condition + " AND position(\(name) IN \(sql: column)) > 0"
        }
        return condition
    }

    private func logRows(
        from number: Int64,
        where condition: SQL,
        wanted: Int,
        _ session: borrowing PostgresSession
    ) throws -> [(number: Int64, statuses: [DeliveryStatus])] {
        try session.query(
            """
            SELECT o.number, o.provider, o.records
            FROM (
                SELECT o.*, sum(o.size) OVER (ORDER BY o.number) - o.size AS before
                FROM (
                    SELECT number, provider, records,
                           greatest(0, delivered + unregistered + expired + dead + suppressed) AS size
                    FROM outcomes
                    WHERE network_id = \(network.rawValue) AND event_id = \(event.uuid) AND number >= \(number)
                        \(sql: condition)
                    ORDER BY network_id, event_id, number LIMIT \(wanted + 1)
                ) AS o
            ) AS o
            WHERE o.before < \(wanted + DeliveryGroup.maximumTargets) ORDER BY o.number
            """
        ) { row in
            let provider = try row.choice(1, of: ProviderName.self)
            let records = try [DeviceRecord](stored: try row.decode(2))
            return (try row.decode(0), records.map { DeliveryStatus(record: $0, provider: provider) })
        }
    }

    /// Leaves out what is void since a dead letter was revived, and says of stopped devices what they count as.
    private func final(
        _ found: [Entry],
        until horizon: Int64,
        _ session: borrowing PostgresSession
    ) throws -> [Entry] {
        let dead = found.map(\.status.record).filter { $0.state == .dead }
        let revived = try revivals(of: dead, until: horizon, session)
        let reached = try reachedUsers(among: found.filter { $0.status.record.state == .suppressed }, session)
        return found.compactMap { entry in
            var entry = entry
            let record = entry.status.record
            if record.state == .suppressed, reached.contains(record.userID) { entry.status.record.state = .expired }
            guard record.state == .dead, let later = revived[record.deviceID] else { return entry }
            switch entry.cursor {
            case .failed(let row, _, _) where row < later, .settled(let row, _, _) where row < later: return nil
            default: return entry
            }
        }
    }

    /// When devices' dead letters were revived last, of what was revived before the list was begun: what is revived later
    /// may be behind the reader's back.
    private func revivals(
        of dead: [DeviceRecord],
        until horizon: Int64,
        _ session: borrowing PostgresSession
    ) throws -> [DeviceID: Int64] {
        guard !dead.isEmpty else { return [:] }
        var revivals: [DeviceID: Int64] = [:]
        try session.forEach(
            """
            SELECT revived, max(number) FROM outcomes
            WHERE network_id = \(network.rawValue) AND event_id = \(event.uuid) AND number <= \(horizon)
                AND revived = ANY (\(dead.map(\.deviceID.rawValue))) AND revived IS NOT NULL
            GROUP BY revived
            """
        ) { row in revivals[try row.id(0)] = try row.decode(1, as: Int64.self) }
        return revivals
    }

    /// The users of whom not all devices were stopped.
    private func reachedUsers(
        among stopped: [Entry],
        _ session: borrowing PostgresSession
    ) throws -> Set<UserID> {
        guard !stopped.isEmpty else { return [] }
        let reached = try session.query(
            """
            SELECT user_id FROM stopped_users
            WHERE network_id = \(network.rawValue) AND event_id = \(event.uuid) AND stopped < devices
                AND user_id = ANY (\(stopped.map(\.status.record.userID.rawValue)))
            """
        ) { row in try row.id(0, of: Person.self) }
        return Set(reached)
    }
}
