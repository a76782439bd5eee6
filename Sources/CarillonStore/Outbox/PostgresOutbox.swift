package import CarillonCore
package import Postgres
import Synchronization

/// The deliveries in table `deliveries`, with the log of what became of them in `outcomes`, and their lanes in `lanes`.
package final class PostgresOutbox: Outbox {
    let pool: PostgresPool
    let ids: UUIDv7Generator
    /// Who is told what became of devices.
    let endpoints: EndpointCache?
    let due = DueRows(of: "deliveries", haveLanes: true)
    /// How far what is no longer worth sending has been looked for.
    let expired = Mutex(TableWalk())
    /// What is measured, whatever is full here.
    private let waitingGroups = DueRows(of: "deliveries")
    private let waitingEvents = DueRows(of: "inbox", where: "t.failure IS DISTINCT FROM \(unknownKindFailure)")

    /// A queue in the database of `pool`; `ids` makes the ids of groups that are split off, of dead letters and of what
    /// `endpoints` are told of devices.
    package init(pool: PostgresPool, ids: UUIDv7Generator, endpoints: EndpointCache? = nil) {
        self.pool = pool
        self.ids = ids
        self.endpoints = endpoints
    }

    /// That of a connection that is to spare.
    package func freeThread() -> (any StoreThread)? { pool.lend() }

    /// Commits pages of expanded events: their deliveries, and how far each event is.
    package func enqueue(_ expansions: [Expansion]) async throws -> [Bool] {
        guard !expansions.isEmpty else { return [] }
        // Of several pages of one event the last one says how far it is.
        var latest: [EventID: Expansion] = [:]
        for var expansion in expansions {
            if let former = latest[expansion.event.id] {
                // A replica that lost a lease to itself has the event in hand twice.
                guard former.event.leaseToken <= expansion.event.leaseToken else { continue }
                expansion.keepsBody = expansion.keepsBody || former.keepsBody
            }
            latest[expansion.event.id] = expansion
        }
        let leases = latest.mapValues(\.event.leaseToken)
        let states = latest.values.sorted {
            ($0.event.networkID, $0.event.id) < ($1.event.networkID, $1.event.id)
        }
        // A verdict may be long, and goes over the wire once however many pages there are.
        let judged = Set(expansions.lazy.map(\.event).filter { !$0.isVerdictStored }.map(\.id))
        let progress = [
            Self.advancing(states.filter { $0.next != nil }, storing: judged),
            Self.finishing(states.filter { $0.next == nil }),
            Self.ending(messagesOf: states.map(\.event)),
        ].compactMap(\.self)
        // Which groups are written depends on whose lease is held; without groups all is said with the first round trip.
        let hasGroups = expansions.contains { !$0.groups.isEmpty || !$0.messages.isEmpty }
        return try await pool.write { session in
            let answers = hasGroups ? try session.pipeline(progress) : try session.commit(after: progress)
            let held = Set(try answers.flatMap { answer in try answer.map { row in try row.eventID(0) } })
            let written = expansions.map { expansion in
                held.contains(expansion.event.id) && leases[expansion.event.id] == expansion.event.leaseToken
            }
            guard hasGroups else { return written }
            var groups = zip(expansions, written).flatMap { $1 ? $0.groups : [] }
            groups += zip(expansions, written).flatMap { $1 ? $0.messages : [] }.joined
            try session.commit(after: groups.isEmpty ? [] : [.inserting(groups.map { StoredDelivery(group: $0) })])
            return written
        }
    }

    /// What changed in each network since a moment.
    ///
    /// The database remembers changes for ten minutes: since an older moment, everybody may be touched.
    package func changes(since points: [(network: NetworkID, point: ReadPoint)]) async throws -> [Changes] {
        guard !points.isEmpty else { return [] }
        let networks = points.map(\.network.rawValue)
        let numbers = points.map { $0.point.number ?? 0 }
        let moments = points.map { ($0.point.number == nil ? ReadPoint.longAgo : $0.point).moment.stored }
        let found = try await pool.query(
            """
            SELECT DISTINCT p.position, p.moment < now() - interval '9 minutes' OR c.user_id IS NULL, c.user_id
            FROM unnest(\(networks), \(numbers), \(moments)) WITH ORDINALITY
                AS p (network_id, number, moment, position)
            LEFT JOIN LATERAL (
                SELECT c.user_id, true AS is_there FROM changes c
                WHERE c.network_id = p.network_id AND c.slot = 0 AND c.seq > p.number
                OFFSET 0
            ) AS c ON true
            WHERE c.is_there OR p.moment < now() - interval '9 minutes'
            """
        ) { row in
            (
                position: try row.decode(0, as: Int.self) - 1, touchesAll: try row.decode(1, as: Bool.self),
                user: try row.decode(2, as: String?.self)
            )
        }
        var changes = [Changes](repeating: .none, count: points.count)
        for change in found {
            changes[change.position].add(change.touchesAll ? nil : change.user.map(UserID.init(trusted:)))
        }
        return changes
    }

    /// How long the longest-waiting group that is due, and the longest-waiting event, have been waiting.
    package func oldestWait() async throws -> Duration { try await oldestWaits().values.max() ?? .zero }

    /// The same of each network that has any.
    func oldestWaits() async throws -> [NetworkID: Duration] {
        var oldest = try await waitingGroups.oldest("t.run_at", in: pool)
        oldest.merge(try await waitingEvents.oldest("t.received_at", in: pool), uniquingKeysWith: min)
        let held = try await pool.query(
            """
            WITH held AS MATERIALIZED (
                -- Sorted by itself it would be read by network, along all that an old snapshot keeps.
                SELECT t.network_id, t.received_at FROM inbox t
                WHERE greatest(t.run_at) > now() AND t.failure IS DISTINCT FROM \(unknownKindFailure)
            )
            SELECT now(), oldest.network_id, oldest.since
            FROM (VALUES (1)) AS one
            LEFT JOIN (SELECT network_id, min(received_at) AS since FROM held GROUP BY network_id) AS oldest ON true
            """
        ) { row in
            (
                now: try row.timestamp(0),
                network: try row.decode(1, as: String?.self).map(NetworkID.init(trusted:)),
                since: try row.timestampIfAny(2)
            )
        }
        for row in held {
            guard let network = row.network, let since = row.since else { continue }
            oldest[network] = min(oldest[network] ?? since, since)
        }
        guard let now = held.first?.now else { return [:] }
        return oldest.mapValues { max(.zero, now - $0) }
    }

    /// What writes how far events are that have more pages, and the verdicts on those `judged` just now; answers those whose lease is held.
    private static func advancing(_ expansions: [Expansion], storing judged: Set<EventID>) -> SQL? {
        guard !expansions.isEmpty else { return nil }
        let events = expansions.map(\.event)
        let keepsBodies = expansions.contains(where: \.keepsBody)
        return """
            \(sql: keepsBodies ? "WITH done AS (" : "")
            UPDATE inbox i
            SET cursor = n.cursor, resolved = n.resolved, notified = n.notified,
                suppressed_network = n.suppressed_network, suppressed_user = n.suppressed_user,
                suppressed_channel = n.suppressed_channel, no_device = n.no_device, intercepted = n.intercepted,
                interception = coalesce(i.interception, n.interception), rescues = 0, failure = NULL,
                run_at = now() + \(leaseDuration.wholeMilliseconds) * interval '1 millisecond'
            FROM unnest(\(events.map(\.networkID.rawValue)), \(events.map(\.id.uuid)), \(events.map(\.leaseToken)),
                        \(expansions.map(\.after?.stored)), \(expansions.map(\.next?.stored)),
                        \(sql: Self.tallies(of: events)), \(expansions.map { judged.contains($0.event.id) ? $0.event.verdict?.stored : nil }),
                        \(expansions.map(\.keepsBody)))
                AS n (network_id, event_id, lease_token, former_cursor, cursor, resolved, notified, suppressed_network,
                      suppressed_user, suppressed_channel, no_device, intercepted, interception, keeps_body)
            WHERE \(sql: .hasKey("i", "event_id", of: "n")) AND i.lease_token = n.lease_token
                AND i.leased AND i.cursor IS NOT DISTINCT FROM n.former_cursor
            RETURNING i.event_id\(sql: keepsBodies ? Self.returnedBody : "")
            \(sql: keepsBodies ? ")" + Self.keepingBodies + "SELECT event_id FROM done" : "")
            """
    }

    /// What moves events whose last page this is from the inbox to the log; answers those whose lease is held.
    private static func finishing(_ expansions: [Expansion]) -> SQL? {
        guard !expansions.isEmpty else { return nil }
        let events = expansions.map(\.event)
        let keepsBodies = expansions.contains(where: \.keepsBody)
        return """
            WITH done AS (
                DELETE FROM inbox i
                USING unnest(\(events.map(\.networkID.rawValue)), \(events.map(\.id.uuid)),
                             \(events.map(\.leaseToken)), \(expansions.map(\.after?.stored)),
                             \(sql: Self.tallies(of: events)), \(events.map { $0.verdict?.report.stored }),
                             \(expansions.map(\.why?.rawValue)), \(expansions.map(\.keepsBody)))
                    AS n (network_id, event_id, lease_token, former_cursor, resolved, notified, suppressed_network,
                          suppressed_user, suppressed_channel, no_device, intercepted, interception, why, keeps_body)
                WHERE \(sql: .hasKey("i", "event_id", of: "n")) AND i.lease_token = n.lease_token
                    AND i.leased AND i.cursor IS NOT DISTINCT FROM n.former_cursor
                RETURNING i.network_id, i.event_id, i.source_id, i.event_type, i.channel_id, i.actor_id, i.received_at, n.resolved, n.notified,
                    n.suppressed_network, n.suppressed_user, n.suppressed_channel, n.no_device, n.intercepted,
                    n.interception, n.why, i.trace\(sql: keepsBodies ? ", i.body, n.keeps_body" : "")
            ) \(sql: keepsBodies ? Self.keepingBodies : "")
            INSERT INTO events (network_id, event_id, source_id, event_type, channel_id, actor_id, received_at, resolved,
                                notified, suppressed_network, suppressed_user, suppressed_channel, no_device, intercepted,
                                interception, why, trace)
            SELECT network_id, event_id, source_id, event_type, channel_id, actor_id, received_at, resolved, notified,
                   suppressed_network, suppressed_user, suppressed_channel, no_device, intercepted, interception, why, trace
            FROM done
            RETURNING event_id
            """
    }

    /// What ends the deliveries that wait for a deleted message; who holds others of it in memory looks once more before they are sent.
    private static func ending(messagesOf events: [PendingEvent]) -> SQL? {
        let deleted = events.filter { $0.event.type == .messageDeleted }.compactMap { event in
            event.event.messageKey.map { (network: event.networkID.rawValue, message: $0.uuid) }
        }
        guard !deleted.isEmpty else { return nil }
        return .onQueue(
            """
            WITH picked AS MATERIALIZED (
                  SELECT d.network_id, d.group_id
                  FROM unnest(\(deleted.map(\.network)), \(deleted.map(\.message))) AS n (network_id, message_key)
                  JOIN deliveries d ON \(sql: .hasKey("d", "message_key", of: "n"))
                  WHERE d.message_key IS NOT NULL AND NOT d.leased AND d.provider <> 'relay'
                  FOR NO KEY UPDATE OF d SKIP LOCKED
            )
            UPDATE deliveries d SET expires_at = least(d.expires_at, now()) FROM picked p
            WHERE \(sql: .hasKey("d", "group_id", of: "p"))
            """
        )
    }

    /// What an event that is not done yet is left with, for its body to be kept.
    private static let returnedBody: SQL = """
        , i.network_id, i.event_type, i.received_at, i.trace, i.body, n.keeps_body
        """

    /// Copies bodies from the inbox to where endpoints are told of them from; an event's first page is written once.
    private static let keepingBodies: SQL = """
        , kept AS (
            INSERT INTO relayed (network_id, event_id, event_type, received_at, body, trace)
            SELECT network_id, event_id, event_type, received_at, body, trace FROM done WHERE keeps_body
            ON CONFLICT DO NOTHING
        )

        """

    private static func tallies(of events: [PendingEvent]) -> SQL {
        """
        \(events.map(\.tally.resolved)), \(events.map(\.tally.notified)),
        \(events.map { $0.tally.suppressed[.network, default: 0] }),
        \(events.map { $0.tally.suppressed[.user, default: 0] }),
        \(events.map { $0.tally.suppressed[.channel, default: 0] }), \(events.map(\.tally.noDevice)),
        \(events.map(\.tally.intercepted))
        """
    }
}

extension Changes {
    /// Notes that a user, or everybody when `nil`, is touched.
    fileprivate mutating func add(_ user: UserID?) {
        guard let user else {
            self = .everybody
            return
        }
        switch self {
        case .none: self = .users([user])
        case .users(let others): self = .users(others.union([user]))
        case .everybody: break
        }
    }
}
