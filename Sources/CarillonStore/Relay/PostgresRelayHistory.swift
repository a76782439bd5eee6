package import CarillonCore
import Foundation
import Postgres

/// What endpoints were told, by `relays` and `deliveries`; what is to be told once more goes into `replays`.
package struct PostgresRelayHistory: RelayHistory {
    /// How many events are looked at in one statement to count a replay.
    private static let countedAtOnce = 5_000

    private let databases: Placed<PlacementDatabase>
    private let mostCounted: Int

    /// A history that looks at so many events to count a replay.
    package init(_ databases: Placed<PlacementDatabase>, mostCounted: Int = 100_000) {
        self.databases = databases
        self.mostCounted = mostCounted
    }

    package func relayDeliveries(
        to endpoint: EndpointID,
        in network: NetworkID,
        state: RelayState?,
        only: EventID?,
        before event: EventID?,
        limit: Int
    ) async throws -> [RelayDelivery] {
        let end = event?.uuid ?? .largest
        let (first, last) = (only?.uuid ?? .smallest, only?.uuid ?? .largest)
        let condition: SQL =
            switch state {
            case nil: ""
            case .delivered: "AND r.state = 'delivered'"
            // As the index says it that has only these.
            case let state?: "AND r.state <> 'delivered' AND r.state = \(state.rawValue)"
            }
        let isWaiting = state == nil || state == .pending
        return try await databases.of(network).pool.withConnection { session in
            try session.queryQueue(
                """
                (SELECT r.event_id, r.event_type, r.state, r.attempts, r.answer, r.at FROM relays r
                 WHERE r.network_id = \(network.rawValue) AND r.endpoint_id = \(endpoint.rawValue)
                    AND r.event_id < \(end) AND r.event_id BETWEEN \(first) AND \(last) \(sql: condition)
                 ORDER BY r.event_id DESC LIMIT \(limit))
                UNION ALL
                (\(sql: Self.untried(to: endpoint, in: network, before: end, from: first, through: last, isWaiting, limit)))
                ORDER BY 1 DESC LIMIT \(limit)
                """
            ) { row in
                let answer = try row.decode(4, as: String?.self)
                return RelayDelivery(
                    eventID: try row.eventID(0),
                    eventType: EventType(try row.decode(1)),
                    state: try row.choice(2),
                    attempts: try row.decode(3),
                    answer: answer.map { RelayAnswer($0) },
                    at: try row.timestamp(5)
                )
            }
        }
    }

    /// Messages that wait for their first attempt.
    ///
    /// The rows that begin last have as many, each one at the least; only rows that begin half a second before those can have
    /// messages about later events.
    private static func untried(
        to endpoint: EndpointID,
        in network: NetworkID,
        before end: UUID,
        from first: UUID,
        through last: UUID,
        _ isWaiting: Bool,
        _ limit: Int
    ) -> SQL {
        let lane: SQL = """
            d.network_id = \(network.rawValue) AND d.app_id = \(endpoint.rawValue) AND d.provider = 'relay'
            """
        let isMeant: SQL = """
            m.event_id < \(end) AND m.event_id BETWEEN \(first) AND \(last)
            AND NOT EXISTS (SELECT FROM relays r
                            WHERE r.network_id = d.network_id AND r.endpoint_id = d.app_id AND r.event_id = m.event_id)
            """
        return """
            WITH latest AS MATERIALIZED (
                SELECT d.event_id FROM deliveries d
                WHERE \(sql: lane) AND d.event_id < \(end) AND d.event_id BETWEEN bundle_floor(\(first)) AND \(last)
                    AND \(isWaiting)
                    AND EXISTS (SELECT FROM bundle_events(d.event_id, d.targets) AS m (event_id) WHERE \(sql: isMeant))
                ORDER BY d.event_id DESC LIMIT \(limit)
            )
            SELECT m.event_id, CASE WHEN d.targets LIKE '%""]]' THEN d.cause::jsonb ->> 'type' ELSE m.type END, 'pending',
                   d.attempt, NULL, d.run_at
            FROM deliveries d CROSS JOIN LATERAL (
                SELECT CASE WHEN d.targets LIKE '%""]]' THEN d.event_id ELSE (message ->> 0)::uuid END, message ->> 1
                FROM jsonb_array_elements(d.targets::jsonb) AS message
            ) AS m (event_id, type)
            WHERE \(sql: lane) AND d.event_id < \(end) AND d.event_id <= \(last)
                AND d.event_id >= (SELECT bundle_floor(min(latest.event_id::text)::uuid) FROM latest)
                AND \(sql: isMeant)
            ORDER BY m.event_id DESC LIMIT \(limit)
            """
    }

    package func retryRelay(
        of event: EventID,
        to endpoint: EndpointID,
        in network: NetworkID,
        until expiry: Timestamp
    ) async throws -> RelayRetry {
        let database = try await databases.toWrite(network)
        let groupID = database.ids.next()
        let isMeant: SQL = """
            network_id = \(network.rawValue) AND endpoint_id = \(endpoint.rawValue) AND event_id = \(event.uuid)
            """
        do {
            return try await database.pool.write { session in
                // Two who ask for the same at once come one after the other, and the second finds what the first has put in.
                let known = try session.executeOnQueue("SELECT FROM relays WHERE \(sql: isMeant) FOR NO KEY UPDATE")
                if try session.hasten(event, to: endpoint, in: network, until: expiry, database.ids) { return .queued }
                guard known > 0 else { return .unknown }
                _ = try session.executeOnQueue("UPDATE relays SET state = 'pending' WHERE \(sql: isMeant)")
                let kept = try session.queryFirst(
                    """
                    SELECT event_type, received_at FROM relayed
                    WHERE network_id = \(network.rawValue) AND event_id = \(event.uuid)
                    """
                ) { row in RelayedEvent(event, EventType(try row.decode(0)), receivedAt: try row.timestamp(1)) }
                guard let kept else { throw BodyGone() }
                let group = DeliveryGroup(
                    id: groupID,
                    telling: endpoint,
                    of: kept,
                    in: network,
                    on: RelayTerms(expiresAt: expiry, isReplay: true)
                )
                try session.insert([group])
                return .queued
            }
        } catch is BodyGone {
            return .bodyGone
        }
    }

    package func beginReplay(
        _ order: ReplayOrder,
        to endpoint: EndpointID,
        in network: NetworkID
    ) async throws -> ReplayCount {
        let (first, end) = (UUID.version7Floor(of: order.from), UUID.version7Floor(of: order.to))
        let pool = try await databases.toWrite(network).pool
        let present = try await pool.execute(
            "SELECT FROM replays WHERE network_id = \(network.rawValue) AND endpoint_id = \(endpoint.rawValue)"
        )
        guard present == 0 else { throw ReplayUnderWay() }
        // Before it begins: should counting fail, nothing is under way that the caller does not know of.
        let count = try await count(order, to: endpoint, in: network, from: first, before: end, pool)
        let begun = try await pool.write(
            """
            INSERT INTO replays (network_id, endpoint_id, after_id, until_id, types, only_failed)
            VALUES (\(network.rawValue), \(endpoint.rawValue), \(first), \(end), \(order.types), \(order.onlyFailed))
            ON CONFLICT DO NOTHING
            """
        )
        guard begun == 1 else { throw ReplayUnderWay() }
        return count
    }

    /// Counts in statements of bounded size, and not for ever.
    private func count(
        _ order: ReplayOrder,
        to endpoint: EndpointID,
        in network: NetworkID,
        from first: UUID,
        before end: UUID,
        _ pool: PostgresPool
    ) async throws -> ReplayCount {
        let failed: SQL = order.onlyFailed ? Self.isFailed(endpoint) : ""
        var count = ReplayCount(events: 0, hasMore: true)
        var (looked, start) = (0, first)
        while looked < mostCounted {
            let limit = min(Self.countedAtOnce, mostCounted - looked)
            let page = try await pool.query(
                .unprepared(
                    """
                    SELECT r.event_id, r.event_type = ANY (\(order.types)) \(sql: failed)
                    FROM relayed r
                    WHERE r.network_id = \(network.rawValue) AND r.event_id >= \(start) AND r.event_id < \(end)
                    ORDER BY r.event_id LIMIT \(limit + 1)
                    """
                )
            ) { row in (id: try row.decode(0, as: UUID.self), isMeant: try row.decode(1, as: Bool.self)) }
            count.events += page.prefix(limit).count(where: \.isMeant)
            guard page.count > limit else {
                count.hasMore = false
                break
            }
            looked += limit
            start = page[limit].id
        }
        return count
    }

    static func isFailed(_ endpoint: EndpointID) -> SQL {
        """
        AND EXISTS (SELECT FROM relays f
                    WHERE f.network_id = r.network_id AND f.endpoint_id = \(endpoint.rawValue)
                        AND f.event_id = r.event_id AND f.state <> 'delivered' AND f.state = 'failed')
        """
    }
}

/// Takes a retry back for which there is no body.
private struct BodyGone: Error {}
