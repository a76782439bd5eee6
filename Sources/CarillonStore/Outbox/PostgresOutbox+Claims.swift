package import CarillonCore
package import Foundation
import Postgres
import Synchronization

extension PostgresOutbox {
    /// How many times a group may outlive those who worked on it before it is given up.
    private static let maximumRescues: Int32 = 5

    /// How many networks are served by one claim.
    private static let networksPerClaim = 32
    /// How many due rows of a network are looked at for each one that it may have, so that its lanes have turns.
    private static let lookahead = 4

    /// Takes groups whose time has come, a share of each network in turn, beginning behind the one that was served last.
    ///
    /// What this costs depends on how much is claimed, not on how many lanes there are nor how many of them are paused: a
    /// due row of a paused lane is met once, and put off to the end of the pause.
    package func claimGroups(
        limit: Int,
        limitPerLane: Int,
        excluding excluded: ClaimExclusions
    ) async throws -> (groups: [RefreshedGroup], hasMore: Bool) {
        let start = lastServed.withLock(\.self)
        let (groups, hasMore, last) = try await pool.write { session in
            var networks = try Self.dueNetworks(after: start, excluded, session)
            if networks.count < Self.networksPerClaim, !start.isEmpty {
                networks += try Self.dueNetworks(after: "", excluded, session).filter { $0 <= start }
            }
            networks = Array(networks.prefix(min(limit, Self.networksPerClaim)))
            guard !networks.isEmpty else { return ([RefreshedGroup](), false, start) }
            let share = (limit + networks.count - 1) / networks.count
            let putOff = try Self.putOffPaused(networks, limit: share * Self.lookahead, session)
            let picking = Self.due(networks, limitPerNetwork: share, limitPerLane: limitPerLane, excluded)
            let claimed = try self.claim(picking, session)
            let alive = try self.giveUpCrashLoops(claimed, session)
            let hasMore = putOff > 0 || claimed.count >= share || networks.count == Self.networksPerClaim
            return (try DeliveryLookup(alive, session).groups, hasMore, networks.last ?? start)
        }
        lastServed.withLock { $0 = last }
        return (groups, hasMore)
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

    /// From network to network by the index, without looking at the rows between.
    static func networkWalk(after start: String) -> SQL {
        """
        (SELECT d.network_id FROM deliveries d WHERE d.network_id > \(start) ORDER BY d.network_id LIMIT 1)
        UNION ALL
        SELECT following.network_id
        FROM sending w CROSS JOIN LATERAL (
            SELECT d.network_id FROM deliveries d WHERE d.network_id > w.network_id ORDER BY d.network_id LIMIT 1
        ) AS following
        """
    }

    /// The next networks with something due.
    private static func dueNetworks(
        after start: String,
        _ excluded: ClaimExclusions,
        _ session: borrowing PostgresSession
    ) throws -> [String] {
        try session.queryQueue(
            """
            WITH RECURSIVE sending AS (\(sql: networkWalk(after: start)))
            SELECT w.network_id FROM sending w
            WHERE EXISTS (SELECT FROM deliveries d WHERE d.network_id = w.network_id AND d.run_at <= now())
                AND w.network_id <> ALL (\(excluded.networks.map(\.rawValue)))
            LIMIT \(networksPerClaim)
            """
        ) { row in try row.decode(0) }
    }

    /// Puts off what is due first in paused lanes to the end of their pauses (``DeliveryGroup/wait(for:afterFailures:)``); answers
    /// how much that was.
    private static func putOffPaused(
        _ networks: [String],
        limit: Int,
        _ session: borrowing PostgresSession
    ) throws -> Int {
        try session.executeOnQueue(
            """
            WITH picked AS MATERIALIZED (
                SELECT first_ones.network_id, first_ones.group_id, l.pause_reason,
                       l.paused_until + CASE WHEN first_ones.provider = 'relay' AND first_ones.attempt = 0
                           THEN \(DeliveryGroup.patienceOfUntried.wholeMilliseconds) ELSE 0 END * interval '1 millisecond'
                           AS run_at
                FROM unnest(\(networks)) AS n (network_id) CROSS JOIN LATERAL (
                    SELECT d.network_id, d.group_id, d.provider, d.app_id, d.attempt FROM deliveries d
                    WHERE d.network_id = n.network_id AND d.run_at <= now()
                    ORDER BY d.run_at LIMIT \(limit)
                    FOR UPDATE SKIP LOCKED
                ) AS first_ones
                JOIN lanes l ON l.network_id = first_ones.network_id AND l.provider = first_ones.provider
                    AND l.app_id = first_ones.app_id AND l.paused_until > now()
            )
            UPDATE deliveries d
            SET run_at = p.run_at, lane_reason = p.pause_reason, leased = false,
                rescues = d.rescues + d.leased::integer
            FROM picked p WHERE d.network_id = p.network_id AND d.group_id = p.group_id
            """
        )
    }

    /// The rows that are due first, of some networks, one lane's after another's.
    private static func due(
        _ networks: [String],
        limitPerNetwork: Int,
        limitPerLane: Int,
        _ excluded: ClaimExclusions
    ) -> SQL {
        """
        WITH picked AS MATERIALIZED (
            SELECT share.network_id, share.group_id
            FROM unnest(\(networks)) AS n (network_id) CROSS JOIN LATERAL (
                SELECT ranked.network_id, ranked.group_id
                FROM (
                    SELECT first_ones.*,
                           row_number() OVER (PARTITION BY provider, app_id ORDER BY run_at) AS place
                    FROM (
                        SELECT d.network_id, d.group_id, d.provider, d.app_id, d.run_at FROM deliveries d
                        WHERE d.network_id = n.network_id AND d.run_at <= now()
                            AND (d.network_id, d.provider, d.app_id) NOT IN (
                                SELECT * FROM unnest(\(excluded.lanes.map(\.networkID.rawValue)),
                                                     \(excluded.lanes.map(\.provider.rawValue)),
                                                     \(excluded.lanes.map(\.appID))))
                            AND NOT EXISTS (SELECT FROM lanes l
                                            WHERE l.network_id = d.network_id AND l.provider = d.provider
                                                AND l.app_id = d.app_id AND l.paused_until > now())
                        ORDER BY d.run_at LIMIT \(limitPerNetwork * lookahead)
                        FOR UPDATE OF d SKIP LOCKED
                    ) AS first_ones
                ) AS ranked
                WHERE ranked.place <= \(limitPerLane)
                ORDER BY ranked.place, ranked.run_at LIMIT \(limitPerNetwork)
            ) AS share
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
                    d.targets, d.attempt, d.lease_token, d.rescues, d.device_counts, d.content
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
            var group = delivery.group
            if group.isRelay { group.targets = delivery.devices.map(\.targetWithoutAddress) }
            return Settlement(group: group, records: records, remainders: [])
        }
        let told = endpoints?.lastKnown(of: Set(looping.map(\.group.lane.networkID))) ?? [:]
        _ = try settle(settlements, telling: told, session)
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
            WHERE \(row.provider) <> 'relay'
            """
        )
    }
}

extension Row {
    /// Reads a row of `deliveries` by the columns of a claim.
    func delivery(leased: Bool) throws -> StoredDelivery {
        var group = DeliveryGroup(
            id: try decode(1),
            lane: Lane(networkID: try id(0), provider: try choice(3), appID: try decode(4)),
            cause: try DeliveryCause(stored: try decode(5), eventID: try eventID(2)),
            push: try push(6, content: 14),
            targets: [],
            attempt: try decode(10),
            leaseToken: try decode(11),
            leased: leased
        )
        group.deviceCounts = try StoredDelivery.deviceCounts(stored: try decode(13))
        let targets: String = try decode(9)
        let devices =
            group.isRelay
            ? try [DeviceOwner](storedMessages: targets, of: group.cause) : try [DeviceOwner](stored: targets)
        return StoredDelivery(group, devices: devices)
    }
}

extension [DeliveryGroup] {
    /// In the order in which rows are locked.
    fileprivate var sortedByKey: [DeliveryGroup] {
        sorted { ($0.lane.networkID.rawValue, $0.id.uuidString) < ($1.lane.networkID.rawValue, $1.id.uuidString) }
    }
}
