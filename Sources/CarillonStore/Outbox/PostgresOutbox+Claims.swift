package import CarillonCore
import Foundation
import Postgres
import Synchronization

extension PostgresOutbox {
    /// How many times a group may outlive those who worked on it before it is given up.
    private static let maximumRescues: Int32 = 5

    private static let entriesPerClaim = 32

    /// Takes groups whose time has come, a share of each network in turn, beginning behind the one that was served last.
    ///
    /// What this costs depends on how much is claimed, not on how many lanes or networks there are, how many of them are paused, nor
    /// on how many dead rows an old snapshot keeps. A due row of a paused lane is met once, and put off to the end of the pause.
    package func claimGroups(
        limit: Int,
        limitPerLane: Int,
        excluding excluded: ClaimExclusions
    ) async throws -> (groups: [RefreshedGroup], hasMore: Bool) {
        let (entries, areRemembered) = try await due.next(
            min(limit, Self.entriesPerClaim),
            excluding: excluded,
            in: pool
        )
        guard !entries.isEmpty else { return ([], false) }
        let walk = DueWalk(
            entries: entries,
            share: (limit + entries.count - 1) / entries.count,
            sharePerLane: limitPerLane,
            passed: excluded.lanes + due.lanesApart
        )
        let (groups, left) = try await pool.write { session in
            let answers = try session.pipeline([
                .walkingAlongIndexes(only: true), .onQueue(walk.puttingOff), .onQueue(Self.claiming(walk.picking)),
                .walkingAlongIndexes(only: false),
            ])
            let putOff = try answers[1].map { row in (try row.decode(0, as: Int.self), try row.timestamp(1)) }
            let (claimed, tallies) = try Self.claimed(answers[2], session)
            let alive = try self.giveUpCrashLoops(claimed, session)
            return (
                try DeliveryLookup(alive, session).groups, walk.left(tallies, Dictionary(putOff, uniquingKeysWith: min))
            )
        }
        let isLeft = due.walked(zip(entries, left.since).map { ($0, $1) }, passing: excluded)
        if areRemembered, !left.hasProgress {
            return try await claimGroups(limit: limit, limitPerLane: limitPerLane, excluding: excluded)
        }
        return (groups, left.hasProgress && isLeft)
    }

    package func nextDue(within limit: Duration) async throws -> Duration? {
        try await due.nextDue(within: limit, in: pool)
    }

    /// Others have left something: the next claim looks for itself, whatever was seen before.
    package func callForLook() { due.callForLook() }

    /// Takes groups whose life is over, of whatever lane, but for those of some networks.
    package func claimExpired(limit: Int, excluding networks: [NetworkID]) async throws -> [RefreshedGroup] {
        var walk = expired.withLock(\.self)
        guard try await hasExpired(walk) else { return [] }
        let isFree: SQL = "(NOT d.leased OR d.run_at <= now())"
        let columns: SQL = "t.ctid, t.network_id, t.leased, t.run_at"
        let rows: SQL = """
            \(sql: walk.rowsOfLate(of: "deliveries", dueBy: "t.expires_at", columns)) UNION ALL
            (SELECT \(sql: columns) FROM \(sql: walk.rowsOfPages(of: "deliveries")) AS t WHERE t.expires_at <= now())
            """
        let (claimed, groups, position) = try await pool.write { session in
            // By their places in the table alone: an index of the time would be read from its beginning.
            let picking: SQL = """
                WITH picked AS MATERIALIZED (
                    SELECT d.network_id, d.group_id, 1::bigint AS place, 0::bigint AS considered, now() AS first_at
                    FROM deliveries d
                    WHERE d.ctid = ANY (ARRAY(SELECT d.ctid FROM (\(sql: rows)) AS d
                                              WHERE \(sql: isFree) AND d.network_id <> ALL (\(networks.map(\.rawValue)))
                                              LIMIT \(limit)))
                        AND greatest(d.expires_at) <= now() AND \(sql: isFree)
                    FOR UPDATE SKIP LOCKED
                )
                """
            let answers = try session.pipeline([
                .onQueue("SELECT \(sql: TableWalk.position(in: "deliveries"))"), .onQueue(Self.claiming(picking)),
            ])
            let position = try answers[0].map { row in
                (now: try row.timestamp(0), pages: try row.decode(1, as: Int64.self))
            }
            let (claimed, tallies) = try Self.claimed(answers[1], session)
            let alive = try self.giveUpCrashLoops(claimed, session)
            return (tallies[1]?.taken ?? 0, try DeliveryLookup(alive, session).groups, position.first)
        }
        if claimed < limit, let position {
            walk.went(on: position.now, pages: position.pages)
            expired.withLock { [walk] in $0 = walk }
        }
        return groups
    }

    /// Whether there is anything to be taken by whoever goes on with a walk; that goes on where there is not.
    private func hasExpired(_ walk: TableWalk) async throws -> Bool {
        let isAny = walk.isAny(
            of: "deliveries",
            dueBy: "t.expires_at",
            "t.expires_at",
            where: "(NOT t.leased OR t.run_at <= now())"
        )
        let question: SQL = "SELECT \(sql: TableWalk.position(in: "deliveries")), \(sql: isAny)"
        let glance = try await pool.queryFirst(question) { row in
            let isAny = try row.decode(2, as: Bool.self)
            return (now: try row.timestamp(0), pages: try row.decode(1, as: Int64.self), isAny: isAny)
        }
        guard let glance, !glance.isAny else { return true }
        var walked = walk
        walked.went(on: glance.now, pages: glance.pages)
        expired.withLock { [walked] in $0 = walked }
        return false
    }

    /// Looks up devices and toggles of these groups anew, at one moment.
    package func refresh(_ groups: [DeliveryGroup]) async throws -> [RefreshedGroup] {
        guard !groups.isEmpty else { return [] }
        return try await pool.snapshot { session in try DeliveryLookup(groups, session).groups }
    }

    /// Holds the leases of these groups, but for those whose rows somebody is writing: one that is locked for long must not cost all
    /// others their leases.
    package func renew(_ groups: [DeliveryGroup]) async throws -> RenewedLeases {
        guard !groups.isEmpty else { return RenewedLeases() }
        let groups = groups.sorted { $0.rowKey < $1.rowKey }
        return try await pool.write { session in
            let free = try session.groupIDs("\(sql: Self.leased(groups)) FOR NO KEY UPDATE OF d SKIP LOCKED")
            let own = groups.filter { free.contains($0.id) }
            let renewed = try session.groupIDs(
                """
                UPDATE deliveries d
                SET run_at = now() + \(leaseDuration.wholeMilliseconds) * interval '1 millisecond'
                FROM unnest(\(own.map(\.lane.networkID.rawValue)), \(own.map(\.id)),
                            \(own.map(\.leaseToken))) AS n (network_id, group_id, lease_token)
                WHERE \(sql: .hasKey("d", "group_id", of: "n")) AND d.lease_token = n.lease_token
                    AND d.leased
                RETURNING d.group_id
                """
            )
            guard own.count < groups.count else { return RenewedLeases(renewed: renewed) }
            return RenewedLeases(renewed: renewed, passed: try session.groupIDs(Self.leased(groups)).subtracting(free))
        }
    }

    /// The ids of those of these groups whose leases are held.
    private static func leased(_ groups: [DeliveryGroup]) -> SQL {
        """
        SELECT d.group_id
        FROM unnest(\(groups.map(\.lane.networkID.rawValue)), \(groups.map(\.id)),
                    \(groups.map(\.leaseToken))) AS n (network_id, group_id, lease_token)
        JOIN deliveries d ON \(sql: .hasKey("d", "group_id", of: "n")) AND d.lease_token = n.lease_token AND d.leased
        """
    }

    /// Gives groups back unsent, to be claimed again after `delay`, without counting an attempt; `laneReason` says what is
    /// wrong with their lane, where that is why.
    package func release(_ groups: [DeliveryGroup], after delay: Duration, laneReason: String?) async throws {
        guard !groups.isEmpty else { return }
        let groups = groups.sorted { $0.rowKey < $1.rowKey }
        try await pool.write { session in
            _ = try session.executeOnQueue(
                """
                UPDATE deliveries d
                SET leased = false, rescues = 0, lane_reason = \(laneReason),
                    run_at = now() + \(max(.zero, delay).wholeMilliseconds) * interval '1 millisecond'
                FROM unnest(\(groups.map(\.lane.networkID.rawValue)), \(groups.map(\.id)),
                            \(groups.map(\.leaseToken))) AS n (network_id, group_id, lease_token)
                WHERE \(sql: .hasKey("d", "group_id", of: "n")) AND d.lease_token = n.lease_token
                    AND d.leased
                """
            )
        }
    }

    struct ClaimedDelivery: Sendable {
        var group: DeliveryGroup
        var rescues: Int32
    }

    /// Leases what `picked` names.
    static func claiming(_ picking: SQL) -> SQL {
        picking + """

            UPDATE deliveries d
            SET leased = true, lease_token = d.lease_token + 1, rescues = d.rescues + d.leased::integer,
                run_at = now() + \(leaseDuration.wholeMilliseconds) * interval '1 millisecond'
            FROM picked p
            WHERE \(sql: .hasKey("d", "group_id", of: "p"))
            RETURNING d.network_id, d.group_id, d.event_id, d.provider, d.app_id, d.cause, d.locale, d.title, d.body,
                d.targets, d.attempt, d.lease_token, d.rescues, d.device_counts, d.content, p.place, p.considered, p.first_at
            """
    }

    /// Reads what was leased; a row that nobody can read any more is taken out of the way.
    static func claimed(
        _ answer: StatementResult,
        _ session: borrowing PostgresSession
    ) throws -> (claimed: [ClaimedDelivery], tallies: [Int: DueWalk.Tally]) {
        var tallies: [Int: DueWalk.Tally] = [:]
        var unreadable: [(network: String, group: UUID, event: UUID, provider: String)] = []
        let claimed: [ClaimedDelivery?] = try answer.map { row in
            let tally = DueWalk.Tally(considered: try row.decode(16), first: try row.timestamp(17))
            tallies[try row.decode(15), default: tally].taken += 1
            do {
                return ClaimedDelivery(group: try row.delivery(leased: true), rescues: try row.decode(12))
            } catch is StoreError {
                unreadable.append(
                    (try row.decode(0), try row.decode(1), try row.decode(2), try row.decode(3))
                )
                return nil
            }
        }
        for row in unreadable { try giveUpUnreadable(row, session) }
        return (claimed.compactMap(\.self), tallies)
    }

    /// Records groups as dead that were claimed again and again without ever being settled; answers the others.
    private func giveUpCrashLoops(
        _ claimed: [ClaimedDelivery],
        _ session: borrowing PostgresSession
    ) throws -> [DeliveryGroup] {
        let looping = claimed.filter { $0.rescues > Self.maximumRescues }.map(\.group)
        guard !looping.isEmpty else { return claimed.map(\.group) }
        let now = try session.now()
        let settlements = looping.map { $0.ended(as: .dead, because: "crash loop", at: now) }
        let told = endpoints?.lastKnown(of: Set(looping.map(\.lane.networkID))) ?? [:]
        _ = try settle(settlements, telling: told, session)
        return claimed.filter { $0.rescues <= Self.maximumRescues }.map(\.group)
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

extension PostgresSession {
    /// The ids of groups that a statement on their queue answers.
    fileprivate func groupIDs(_ sql: SQL) throws -> Set<UUID> {
        Set(try queryQueue(sql) { row in try row.decode(0, as: UUID.self) })
    }
}
