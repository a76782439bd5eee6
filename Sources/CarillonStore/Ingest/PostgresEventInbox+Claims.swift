package import CarillonCore
import Postgres

extension PostgresEventInbox {
    /// How many times an event may outlive those who worked on it before it is set aside.
    private static let maximumRescues: Int32 = 5
    private static let entriesPerClaim = 64

    /// Networks are served in turn, beginning behind the one that was served last.
    package func claimEvents(limit: Int, excluding full: [NetworkID]) async throws -> [PendingEvent] {
        var exclusions = ClaimExclusions()
        exclusions.networks = full
        let (entries, areRemembered) = try await due.next(
            min(limit, Self.entriesPerClaim),
            excluding: exclusions,
            in: pool
        )
        guard !entries.isEmpty else { return [] }
        let share = (limit + entries.count - 1) / entries.count
        let (claimed, taken) = try await pool.write { session in
            let rows = try Self.claim(entries, limitPerEntry: share, session)
            var events: [PendingEvent] = []
            var failed: [AbandonedEvent] = []
            var unknown: [PendingEvent] = []
            for row in rows {
                if !row.isKnown, row.isLate {
                    failed.append(AbandonedEvent(row.event, unknownKindFailure))
                } else if !row.isKnown {
                    unknown.append(row.event)
                } else if row.rescues > Self.maximumRescues {
                    failed.append(AbandonedEvent(row.event, "crash loop"))
                } else if row.isReadable {
                    events.append(row.event)
                } else {
                    failed.append(AbandonedEvent(row.event, "unreadable"))
                }
            }
            try Self.setAside(failed, session)
            try Self.leaveAlone(unknown, session)
            return (events, Dictionary(grouping: rows, by: \.event.networkID).mapValues { $0.map(\.dueAt) })
        }
        _ = due.walked(
            entries.map { entry in
                let moments = taken[entry.network, default: []]
                return (entry, moments.count < share ? nil : moments.min())
            }
        )
        if areRemembered, taken.isEmpty { return try await claimEvents(limit: limit, excluding: full) }
        return claimed.sorted { $0.id < $1.id }
    }

    package func nextDue(within limit: Duration) async throws -> Duration? {
        try await due.nextDue(within: limit, in: pool)
    }

    /// Others have left something: the next claim looks for itself, whatever was seen before.
    package func callForLook() { due.callForLook() }

    /// Holds the leases of these events, but for those whose rows somebody is writing; answers which.
    package func renew(_ events: [PendingEvent]) async throws -> Set<EventID> {
        guard !events.isEmpty else { return [] }
        let events = events.sorted { ($0.networkID, $0.id) < ($1.networkID, $1.id) }
        return try await pool.write { session in
            let held = try session.queryQueue(
                """
                WITH picked AS MATERIALIZED (
                    SELECT i.network_id, i.event_id
                    FROM unnest(\(events.map(\.networkID.rawValue)), \(events.map(\.id.uuid)),
                                \(events.map(\.leaseToken))) AS n (network_id, event_id, lease_token)
                    JOIN inbox i ON \(sql: .hasKey("i", "event_id", of: "n")) AND i.lease_token = n.lease_token AND i.leased
                    FOR NO KEY UPDATE OF i SKIP LOCKED
                )
                UPDATE inbox i SET run_at = now() + \(leaseDuration.wholeMilliseconds) * interval '1 millisecond'
                FROM picked p
                WHERE \(sql: .hasKey("i", "event_id", of: "p"))
                RETURNING i.event_id
                """
            ) { row in try row.eventID(0) }
            return Set(held)
        }
    }

    /// Gives events back, so that any replica can claim them after `delay`; whoever does that has not died of them.
    package func release(_ events: [PendingEvent], after delay: Duration) async throws {
        let delay = max(.zero, delay).wholeMilliseconds
        try await change(events, "leased = false, rescues = 0, run_at = now() + \(delay) * interval '1 millisecond'")
    }

    package func noteFailure(of events: [PendingEvent], reason: String) async throws {
        try await change(events, "failure = \(reason)", where: "i.failure IS DISTINCT FROM \(reason)")
    }

    /// Changes the rows of events whose leases are held.
    private func change(_ events: [PendingEvent], _ change: SQL, where isMeant: SQL = "true") async throws {
        guard !events.isEmpty else { return }
        let events = events.sorted { ($0.networkID, $0.id) < ($1.networkID, $1.id) }
        try await pool.write(
            .onQueue(
                """
                UPDATE inbox i SET \(sql: change)
                FROM unnest(\(events.map(\.networkID.rawValue)), \(events.map(\.id.uuid)),
                            \(events.map(\.leaseToken))) AS n (network_id, event_id, lease_token)
                WHERE \(sql: .hasKey("i", "event_id", of: "n")) AND i.lease_token = n.lease_token
                    AND i.leased AND \(sql: isMeant)
                """
            )
        )
    }

    private struct ClaimedRow {
        var event: PendingEvent
        var rescues: Int32
        /// Since when it could have been claimed.
        var dueAt: Timestamp
        /// Whether nobody waits for it any more.
        var isLate: Bool
        var isReadable: Bool
        var isKnown: Bool
    }

    /// Leases what has been due for longest in some networks.
    private static func claim(
        _ entries: [DueIndex.Entry],
        limitPerEntry: Int,
        _ session: borrowing PostgresSession
    ) throws -> [ClaimedRow] {
        let claim: SQL =
            """
            WITH picked AS MATERIALIZED (
                SELECT share.network_id, share.event_id, share.run_at
                FROM unnest(\(entries.map(\.network.rawValue)), \(entries.map(\.since.stored))) AS n (network_id, since)
                CROSS JOIN LATERAL (
                    SELECT i.network_id, i.event_id, i.run_at FROM inbox i
                    WHERE \(sql: DueRows.areDue("i"))
                    ORDER BY i.run_at LIMIT \(limitPerEntry)
                    FOR UPDATE SKIP LOCKED
                ) AS share
            )
            UPDATE inbox i
            SET leased = true, lease_token = i.lease_token + 1, rescues = i.rescues + i.leased::integer,
                run_at = now() + \(leaseDuration.wholeMilliseconds) * interval '1 millisecond'
            FROM picked p
            WHERE \(sql: .hasKey("i", "event_id", of: "p"))
            RETURNING i.network_id, i.event_id, i.source_id, i.received_at, i.occurred_at, i.body, i.lease_token,
                i.rescues, i.cursor, i.resolved, i.notified, i.suppressed_network, i.suppressed_user,
                i.suppressed_channel, i.no_device, coalesce(i.mark, i.event_id), i.run_at, i.withdrawn,
                i.intercepted, i.interception, p.run_at, i.trace
            """
        let answers = try session.pipeline([
            .walkingAlongIndexes(only: true), .onQueue(claim), .walkingAlongIndexes(only: false),
        ])
        return try answers[1].map { row in
            let receivedAt = try row.timestamp(3)
            let claimedAt = try row.timestamp(16) - leaseDuration
            let sourceID = try row.decode(2, as: String.self)
            let stored = StoredEvent(
                body: Array(try row.decode(5, as: String.self).utf8),
                sourceID: sourceID,
                receivedAt: receivedAt,
                occurredAt: try row.timestamp(4)
            )
            var event: Event?
            var isKnown = true
            switch stored {
            case .event(let read):
                event = read
                event?.trace = try row.trace(21)
            case .unknownType: isKnown = false
            case .unreadable: break
            }
            let interception = try row.decode(19, as: String?.self)
            let verdict = interception.flatMap { Verdict(stored: $0) }
            let pending = PendingEvent(
                networkID: try row.id(0),
                id: try row.eventID(1),
                receivedAt: receivedAt,
                mark: try row.decode(15),
                event: event ?? Event(sourceID: sourceID, type: .messageSent, timestamp: receivedAt),
                leaseToken: try row.decode(6),
                cursor: try row.decode(8, as: String?.self).map(PageCursor.init(stored:)),
                tally: try row.tally(at: 9, intercepted: 18),
                isWithdrawn: try row.decode(17),
                verdict: verdict
            )
            return ClaimedRow(
                event: pending,
                rescues: try row.decode(7),
                dueAt: try row.timestamp(20),
                isLate: receivedAt < claimedAt - idempotencyWindow,
                // What an endpoint kept from somebody must not reach them because nobody can read that any more.
                isReadable: event != nil && (interception == nil || verdict != nil),
                isKnown: isKnown
            )
        }
    }

    /// Gives back what only a later release can read, for a replica of that to find; a replica of this one meets it again
    /// after a while.
    private static func leaveAlone(_ events: [PendingEvent], _ session: borrowing PostgresSession) throws {
        guard !events.isEmpty else { return }
        _ = try session.executeOnQueue(
            """
            UPDATE inbox i
            SET leased = false, run_at = now() + \(unknownKindRest.wholeMilliseconds) * interval '1 millisecond',
                failure = \(unknownKindFailure)
            FROM unnest(\(events.map(\.networkID.rawValue)), \(events.map(\.id.uuid))) AS n (network_id, event_id)
            WHERE \(sql: .hasKey("i", "event_id", of: "n"))
            """
        )
    }

    /// Moves events that cannot be expanded out of the way, with the reason.
    static func setAside(_ failed: [AbandonedEvent], _ session: borrowing PostgresSession) throws {
        guard !failed.isEmpty else { return }
        _ = try session.executeOnQueue(
            """
            WITH gone AS (
                DELETE FROM inbox i
                USING unnest(\(failed.map(\.networkID.rawValue)), \(failed.map(\.id.uuid)),
                             \(failed.map(\.reason))) AS n (network_id, event_id, reason)
                WHERE \(sql: .hasKey("i", "event_id", of: "n"))
                RETURNING i.network_id, i.event_id, i.source_id, i.event_type, i.channel_id, i.actor_id, i.received_at,
                    n.reason || coalesce(': ' || nullif(i.failure, n.reason), '') AS reason, i.resolved,
                    i.notified, i.suppressed_network, i.suppressed_user, i.suppressed_channel, i.no_device,
                    i.intercepted, split_part(i.interception, E'\\n', 1) AS interception, i.trace
            )
            INSERT INTO events (network_id, event_id, source_id, event_type, channel_id, actor_id, received_at, failure,
                                resolved, notified, suppressed_network, suppressed_user, suppressed_channel, no_device,
                                intercepted, interception, trace)
            SELECT network_id, event_id, source_id, event_type, channel_id, actor_id, received_at, reason, resolved, notified,
                   suppressed_network, suppressed_user, suppressed_channel, no_device, intercepted, interception, trace
            FROM gone
            """
        )
    }
}

struct AbandonedEvent: Sendable {
    let networkID: NetworkID
    let id: EventID
    /// Why, for those who ask about it.
    let reason: String
}

extension AbandonedEvent {
    fileprivate init(_ event: PendingEvent, _ reason: String) {
        self.init(networkID: event.networkID, id: event.id, reason: reason)
    }
}
