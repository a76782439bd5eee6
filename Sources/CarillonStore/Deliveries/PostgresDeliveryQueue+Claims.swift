package import CarillonCore
package import Foundation
import Postgres
import Synchronization

/// A lane as the index orders it.
struct LaneKey: Sendable {
    var network: String
    var provider: String
    var app: String

    init(_ lane: Lane) {
        network = lane.networkID.rawValue
        provider = lane.provider.rawValue
        app = lane.appID
    }
}

extension PostgresDeliveryQueue {
    /// How many times a group may outlive those who worked on it before it is given up.
    private static let maximumRescues: Int32 = 5

    /// Takes groups whose time has come, from one lane after the other, beginning behind the one that was served last.
    package func claimGroups(limit: Int, limitPerLane: Int, excluding excluded: [Lane]) async throws -> [RefreshedGroup]
    {
        let start = lastServed.withLock(\.self)
        let (groups, last) = try await pool.write { session in
            let claim = { (session: borrowing PostgresSession, limit: Int, after: LaneKey?) in
                try self.claim(Self.due(after, limit, limitPerLane, excluded), session)
            }
            var claimed = try claim(session, limit, start)
            let last = claimed.last
            if claimed.count < limit, start != nil {
                claimed += try claim(session, limit - claimed.count, nil)
            }
            let alive = try self.giveUpCrashLoops(claimed, session)
            return (try DeliveryLookup(alive, session).groups, claimed.last ?? last)
        }
        if let last { lastServed.withLock { $0 = LaneKey(last.delivery.group.lane) } }
        return groups
    }

    /// Takes groups whose life is over, of whatever lane.
    package func claimExpired(limit: Int) async throws -> [RefreshedGroup] {
        try await pool.write { session in
            let expired: SQL = """
                picked AS MATERIALIZED (
                    SELECT d.network_id, d.group_id FROM deliveries d
                    WHERE d.expires_at <= now() AND (NOT d.leased OR d.run_at <= now())
                    ORDER BY d.expires_at LIMIT \(limit)
                    FOR UPDATE SKIP LOCKED
                )
                """
            let alive = try self.giveUpCrashLoops(try self.claim("WITH " + expired, session), session)
            return try DeliveryLookup(alive, session).groups
        }
    }

    /// Looks up devices and toggles of these groups anew, at one moment.
    package func refresh(_ groups: [DeliveryGroup]) async throws -> [RefreshedGroup] {
        guard !groups.isEmpty else { return [] }
        let deliveries = groups.map(StoredDelivery.init)
        return try await pool.snapshot { session in try DeliveryLookup(deliveries, session).groups }
    }

    /// Holds the leases of these groups; answers those still held.
    package func renew(_ groups: [DeliveryGroup]) async throws -> Set<UUID> {
        guard !groups.isEmpty else { return [] }
        let groups = groups.sortedByKey
        return try await pool.write { session in
            let held = try session.queryQueue(
                """
                UPDATE deliveries d
                SET run_at = now() + \(leaseDuration.wholeMilliseconds) * interval '1 millisecond'
                FROM unnest(\(groups.map(\.lane.networkID.rawValue)), \(groups.map(\.id)),
                            \(groups.map(\.leaseToken))) AS n (network_id, group_id, lease_token)
                WHERE d.network_id = n.network_id AND d.group_id = n.group_id AND d.lease_token = n.lease_token
                    AND d.leased
                RETURNING d.group_id
                """
            ) { row in try row.decode(0, as: UUID.self) }
            return Set(held)
        }
    }

    /// Gives groups back unsent, to be claimed again after `delay`, without counting an attempt; `laneReason` says what is
    /// wrong with their lane, where that is why.
    package func release(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String?) async throws {
        guard !groups.isEmpty else { return }
        let groups = groups.sortedByKey
        try await pool.write { session in
            _ = try session.executeOnQueue(
                """
                UPDATE deliveries d
                SET leased = false, rescues = 0, lane_reason = \(laneReason),
                    run_at = now() + \(max(.zero, delay).wholeMilliseconds) * interval '1 millisecond'
                FROM unnest(\(groups.map(\.lane.networkID.rawValue)), \(groups.map(\.id)),
                            \(groups.map(\.leaseToken))) AS n (network_id, group_id, lease_token)
                WHERE d.network_id = n.network_id AND d.group_id = n.group_id AND d.lease_token = n.lease_token
                    AND d.leased
                """
            )
        }
    }

    struct ClaimedDelivery: Sendable {
        var delivery: StoredDelivery
        var rescues: Int32
    }

    /// From lane to lane by the index, without looking at the rows between.
    static func laneWalk(after start: LaneKey?) -> SQL {
        """
        (SELECT d.network_id, d.provider, d.app_id FROM deliveries d
         WHERE (d.network_id, d.provider, d.app_id)
             > (\(start?.network ?? ""), \(start?.provider ?? ""), \(start?.app ?? ""))
         ORDER BY d.network_id, d.provider, d.app_id LIMIT 1)
        UNION ALL
        SELECT following.network_id, following.provider, following.app_id
        FROM lanes l CROSS JOIN LATERAL (
            SELECT d.network_id, d.provider, d.app_id FROM deliveries d
            WHERE (d.network_id, d.provider, d.app_id) > (l.network_id, l.provider, l.app_id)
            ORDER BY d.network_id, d.provider, d.app_id LIMIT 1
        ) AS following
        """
    }

    private static func due(_ start: LaneKey?, _ limit: Int, _ limitPerLane: Int, _ excluded: [Lane]) -> SQL {
        """
        WITH RECURSIVE lanes AS (\(sql: laneWalk(after: start))), picked AS MATERIALIZED (
            SELECT share.network_id, share.group_id
            FROM lanes l CROSS JOIN LATERAL (
                SELECT d.network_id, d.group_id FROM deliveries d
                WHERE d.network_id = l.network_id AND d.provider = l.provider AND d.app_id = l.app_id
                    AND d.run_at <= now()
                ORDER BY d.run_at LIMIT \(limitPerLane)
                FOR UPDATE SKIP LOCKED
            ) AS share
            WHERE NOT EXISTS (
                SELECT FROM unnest(\(excluded.map(\.networkID.rawValue)), \(excluded.map(\.provider.rawValue)),
                                   \(excluded.map(\.appID))) AS x (network_id, provider, app_id)
                WHERE x.network_id = l.network_id AND x.provider = l.provider AND x.app_id = l.app_id
            )
            LIMIT \(limit)
        )
        """
    }

    /// Leases what `picked` names; a row that nobody can read any more is taken out of the way.
    private func claim(_ picking: SQL, _ session: borrowing PostgresSession) throws -> [ClaimedDelivery] {
        var unreadable: [(network: String, group: UUID, event: UUID, provider: String)] = []
        let claimed: [ClaimedDelivery?] = try session.queryQueue(
            picking + """

                UPDATE deliveries d
                SET leased = true, lease_token = d.lease_token + 1, rescues = d.rescues + d.leased::integer,
                    run_at = now() + \(leaseDuration.wholeMilliseconds) * interval '1 millisecond'
                FROM picked p
                WHERE d.network_id = p.network_id AND d.group_id = p.group_id
                RETURNING d.network_id, d.group_id, d.event_id, d.provider, d.app_id, d.cause, d.locale, d.title, d.body,
                    d.targets, d.attempt, d.lease_token, d.rescues
                """
        ) { row in
            do {
                return ClaimedDelivery(delivery: try row.delivery(leased: true), rescues: try row.decode(12))
            } catch is StoreError {
                unreadable.append(
                    (try row.decode(0), try row.decode(1), try row.decode(2), try row.decode(3))
                )
                return nil
            }
        }
        for row in unreadable { try Self.giveUpUnreadable(row, session) }
        return claimed.compactMap(\.self)
    }

    /// Records groups as dead that were claimed again and again without ever being settled; answers the others.
    private func giveUpCrashLoops(
        _ claimed: [ClaimedDelivery],
        _ session: borrowing PostgresSession
    ) throws -> [StoredDelivery] {
        let looping = claimed.filter { $0.rescues > Self.maximumRescues }.map(\.delivery)
        guard !looping.isEmpty else { return claimed.map(\.delivery) }
        let now = try session.queryFirst("SELECT now()") { row in try row.timestamp(0) }
        let settlements = looping.map { delivery in
            let records = delivery.devices.map { owner in
                DeviceRecord(
                    deviceID: owner.device,
                    userID: owner.user,
                    state: .dead,
                    attempts: delivery.group.attempt,
                    reason: "crash loop",
                    at: now ?? delivery.group.cause.receivedAt
                )
            }
            return Settlement(group: delivery.group, records: records, remainders: [])
        }
        _ = try settle(settlements, session)
        return claimed.filter { $0.rescues <= Self.maximumRescues }.map(\.delivery)
    }

    private static func giveUpUnreadable(
        _ row: (network: String, group: UUID, event: UUID, provider: String),
        _ session: borrowing PostgresSession
    ) throws {
        try session.execute(
            """
            WITH gone AS (
                DELETE FROM deliveries WHERE network_id = \(row.network) AND group_id = \(row.group) RETURNING size
            )
            INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead, suppressed,
                                  records)
            SELECT \(row.network), \(row.event), \(row.provider), now(), 0, 0, 0, size, 0, '[]' FROM gone
            """
        )
    }
}

extension Row {
    /// Reads a row of `deliveries` by the columns of a claim.
    func delivery(leased: Bool) throws -> StoredDelivery {
        let group = DeliveryGroup(
            id: try decode(1),
            lane: Lane(networkID: try id(0), provider: try choice(3), appID: try decode(4)),
            cause: try DeliveryCause(stored: try decode(5), eventID: try eventID(2)),
            notification: Notification(locale: try decode(6), title: try decode(7), body: try decode(8)),
            targets: [],
            attempt: try decode(10),
            leaseToken: try decode(11),
            leased: leased
        )
        return StoredDelivery(group, devices: try [DeviceOwner](stored: try decode(9)))
    }
}

extension [DeliveryGroup] {
    /// In the order in which rows are locked.
    fileprivate var sortedByKey: [DeliveryGroup] {
        sorted { ($0.lane.networkID.rawValue, $0.id.uuidString) < ($1.lane.networkID.rawValue, $1.id.uuidString) }
    }
}
