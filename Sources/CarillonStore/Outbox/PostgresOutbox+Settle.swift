package import CarillonCore
import Foundation
import Postgres

extension PostgresOutbox {
    /// Writes down what happened to groups and what lanes report.
    ///
    /// Writing the same settlement twice, as after a lost answer to COMMIT, has no further effect.
    package func settle(_ settlements: [Settlement], lockWait: Duration) async throws -> SettleReceipt {
        guard !settlements.isEmpty else { return SettleReceipt() }
        let told = try await endpoints?.endpoints(of: Set(settlements.map(\.group.lane.networkID))) ?? [:]
        return try await pool.write(lockWait: lockWait) { session in try settle(settlements, telling: told, session) }
    }

    func settle(
        _ settlements: [Settlement],
        telling endpoints: [NetworkID: [Endpoint]],
        _ session: borrowing PostgresSession
    ) throws -> SettleReceipt {
        let ordered = settlements.sorted { $0.group.rowKey < $1.group.rowKey }
        let (done, start) = try Self.remove(ordered.filter(\.remainders.isEmpty), session)
        let (shrunk, repeated) = try Self.shrink(ordered.filter { !$0.remainders.isEmpty }, at: start.moment, session)
        let fenced = done.union(shrunk.keys)
        let written = ordered.filter { fenced.contains($0.group.id) }
        try insertSplitOff(written, living: shrunk, session)
        let notifications = written.filter { $0.group.terms == nil }
        try Self.log(notifications, session)
        var receipt = SettleReceipt()
        receipt.stoppedUsers = try StoppedUsers(notifications).write(session)
        try insertDeadLetters(notifications, session)
        receipt.lanes = try LaneRows.note(Self.answers(of: notifications), session)
        let braked = Set(receipt.lanes.filter { $1.brakedSince != nil }.keys)
        let listeners = FeedbackListeners(endpoints: endpoints, ids: ids)
        let touched = try DeviceEffects(notifications, sparing: braked).write(
            at: start.moment,
            session,
            telling: listeners
        )
        if listeners.want(FeedbackType.ofDeliveries) {
            try session.insert(
                notifications.flatMap { settlement in
                    let told = endpoints[settlement.group.lane.networkID] ?? []
                    return settlement.feedback(to: told, at: Timestamp(stored: start.moment), ids: ids)
                }
            )
        }
        // Messages to endpoints are no devices.
        let messages = written.filter { $0.group.terms != nil }
        if !messages.isEmpty { try RelayLog(messages, at: start).write(session) }
        try session.recordChanges(of: touched)
        receipt.stale = Set(ordered.map(\.group.id)).subtracting(fenced).subtracting(repeated)
        return receipt
    }

    private static func answers(of settlements: [Settlement]) -> [Lane: DeviceReports.Answers] {
        var answers: [Lane: DeviceReports.Answers] = [:]
        for settlement in settlements {
            guard let said = settlement.answers else { continue }
            answers[settlement.group.lane] = answers[settlement.group.lane]?.adding(said) ?? said
        }
        return answers
    }

    /// Deletes the rows of groups that are done, as the first thing that the transaction does.
    private static func remove(
        _ settlements: [Settlement],
        _ session: borrowing PostgresSession
    ) throws -> (removed: Set<UUID>, start: TransactionStart) {
        let groups = settlements.map(\.group)
        let removing: SQL = """
            DELETE FROM deliveries d
            USING unnest(\(groups.map(\.lane.networkID.rawValue)), \(groups.map(\.id)), \(groups.map(\.leaseToken)))
                AS n (network_id, group_id, lease_token)
            WHERE \(sql: .hasKey("d", "group_id", of: "n")) AND d.lease_token = n.lease_token AND d.leased
            RETURNING d.group_id
            """
        let (start, answers) = try session.start(
            numberedBy: .endpointRevisions,
            with: groups.isEmpty ? [] : [removing]
        )
        let removed = try answers.flatMap { answer in try answer.map { row in try row.decode(0, as: UUID.self) } }
        return (Set(removed), start)
    }

    /// Leaves the first remainder in the row: leased as it is, or to be claimed after its delay.
    ///
    /// A row that has shrunk to the remainder already was settled by this same settlement before. Answers until when the groups
    /// live: somebody may have asked for messages once more while they were on their way.
    private static func shrink(
        _ settlements: [Settlement],
        at moment: PostgresTimestamp,
        _ session: borrowing PostgresSession
    ) throws -> (shrunk: [UUID: Timestamp], repeated: Set<UUID>) {
        guard !settlements.isEmpty else { return ([:], []) }
        let groups = settlements.map(\.group)
        let kept = settlements.map { $0.remainders[0] }
        let targets = zip(groups, kept).map { group, rest in rest.targets.stored(in: group.cause) }
        let sizes = kept.map(\.targets.count)
        let dueAt = kept.map { $0.delay.map { moment + max(.zero, $0) } }
        let isSmaller = settlements.map { !$0.records.isEmpty || $0.remainders.count > 1 }
        let networks = groups.map(\.lane.networkID.rawValue)
        let tokens = groups.map(\.leaseToken)
        let shrunk = try session.query(
            """
            UPDATE deliveries d
            SET targets = n.targets, size = n.size, attempt = n.attempt, rescues = 0, leased = n.run_at IS NULL,
                lane_reason = n.lane_reason, run_at = coalesce(n.run_at, d.run_at)
            FROM unnest(\(networks), \(groups.map(\.id)), \(tokens), \(targets), \(sizes),
                        \(kept.map(\.attempt)), \(dueAt), \(kept.map(\.laneReason)), \(isSmaller))
                AS n (network_id, group_id, lease_token, targets, size, attempt, run_at, lane_reason, is_smaller)
            WHERE \(sql: .hasKey("d", "group_id", of: "n")) AND d.lease_token = n.lease_token AND d.leased
                AND (d.size > n.size OR NOT n.is_smaller)
            RETURNING d.group_id, d.expires_at
            """
        ) { row in (try row.decode(0, as: UUID.self), try row.timestamp(1)) }
        let ends = Dictionary(shrunk) { first, _ in first }
        guard ends.count < settlements.count else { return (ends, []) }
        let repeated = try session.query(
            """
            SELECT d.group_id
            FROM unnest(\(networks), \(groups.map(\.id)), \(tokens), \(sizes), \(dueAt.map { $0 == nil }))
                AS n (network_id, group_id, lease_token, size, is_leased)
            JOIN deliveries d
                ON \(sql: .hasKey("d", "group_id", of: "n")) AND d.lease_token = n.lease_token
            WHERE d.size <= n.size AND d.leased = n.is_leased
            """
        ) { row in try row.decode(0, as: UUID.self) }
        return (ends, Set(repeated).subtracting(ends.keys))
    }

    /// Makes groups of their own of all remainders but the first.
    private func insertSplitOff(
        _ settlements: [Settlement],
        living ends: [UUID: Timestamp],
        _ session: borrowing PostgresSession
    ) throws {
        try session.insert(
            settlements.flatMap { settlement in
                settlement.remainders.dropFirst().map { remainder in
                    var group = settlement.group
                    group.id = ids.next()
                    group.attempt = remainder.attempt
                    group.leased = false
                    group.leaseToken = 1
                    group.targets = remainder.targets
                    group.beginWithFirst()
                    if let end = ends[settlement.group.id] { group.live(until: end) }
                    return StoredDelivery(
                        group: group,
                        delay: max(.zero, remainder.delay ?? .zero),
                        laneReason: remainder.laneReason
                    )
                }
            }
        )
    }

    /// Appends one row of outcomes for each group.
    private static func log(_ settlements: [Settlement], _ session: borrowing PostgresSession) throws {
        let settlements = settlements.filter { !$0.records.isEmpty }
        guard !settlements.isEmpty else { return }
        let groups = settlements.map(\.group)
        let states = settlements.map { $0.records.map(\.state) }
        func counts(_ state: DeliveryState) -> [Int] { states.map { $0.count { $0 == state } } }
        func stopped(_ level: ToggleLevel) -> [Int?] { settlements.map { $0.soleDevicesStopped(by: level) } }
        try session.execute(
            """
            INSERT INTO outcomes (network_id, event_id, provider, app_id, at, delivered, unregistered, expired, dead,
                                  suppressed, stopped_network, stopped_user, stopped_channel, records)
            SELECT n.network_id, n.event_id, n.provider, n.app_id, now(), n.delivered, n.unregistered, n.expired,
                   n.dead, n.suppressed, n.stopped_network, n.stopped_user, n.stopped_channel, n.records
            FROM unnest(\(groups.map(\.lane.networkID.rawValue)), \(groups.map(\.cause.eventID.uuid)),
                        \(groups.map(\.lane.provider.rawValue)), \(groups.map(\.lane.appID)), \(counts(.delivered)), \(counts(.unregistered)),
                        \(counts(.expired)), \(counts(.dead)), \(counts(.suppressed)), \(stopped(.network)), \(stopped(.user)),
                        \(stopped(.channel)), \(settlements.map(\.records.stored)))
                AS n (network_id, event_id, provider, app_id, delivered, unregistered, expired, dead, suppressed,
                      stopped_network, stopped_user, stopped_channel, records)
            """
        )
    }

    /// Keeps what was given up, so that it can be sent again by hand.
    private func insertDeadLetters(_ settlements: [Settlement], _ session: borrowing PostgresSession) throws {
        let dead = settlements.flatMap { settlement in
            settlement.records.filter { $0.state == .dead }.map { (group: settlement.group, record: $0) }
        }
        guard !dead.isEmpty else { return }
        let groups = dead.map(\.group)
        let (pushes, records) = (groups.map(\.storedPush), dead.map(\.record))
        let devices = dead.map { letter in letter.group.knownDeviceCounts.map { $0[letter.record.userID] ?? 1 } }
        try session.execute(
            """
            INSERT INTO dead_letters (network_id, letter_id, event_id, provider, app_id, cause, locale, title, body,
                                      content, device_id, user_id, attempts, reason, devices, at)
            SELECT n.network_id, n.letter_id, n.event_id, n.provider, n.app_id, n.cause, n.locale, n.title, n.body,
                   n.content, n.device_id, n.user_id, n.attempts, n.reason, n.devices, n.at
            FROM unnest(\(groups.map(\.lane.networkID.rawValue)), \(dead.map { _ in ids.next() }),
                        \(groups.map(\.cause.eventID.uuid)), \(groups.map(\.lane.provider.rawValue)),
                        \(groups.map(\.lane.appID)), \(groups.map(\.storedCause)), \(pushes.map(\.notification.locale)),
                        \(pushes.map(\.notification.title)), \(pushes.map(\.notification.body)),
                        \(pushes.map(\.storedContent)), \(records.map(\.deviceID.rawValue)),
                        \(records.map(\.userID.rawValue)), \(records.map(\.attempts)), \(records.map(\.reason)), \(devices), \(records.map(\.at.stored)))
                AS n (network_id, letter_id, event_id, provider, app_id, cause, locale, title, body, content, device_id,
                      user_id, attempts, reason, devices, at)
            """
        )
    }
}
