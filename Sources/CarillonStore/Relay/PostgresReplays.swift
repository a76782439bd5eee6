package import CarillonCore
import Foundation
package import Postgres
import Synchronization

/// What endpoints are told once more, from `relayed`, as `replays` asks for it.
package final class PostgresReplays: ReplayQueue {
    /// How many messages are queued at a time.
    private static let pageSize = 100
    /// How many former events are looked at for them.
    private static let lookahead = 2_000
    /// How long one replay waits for what somebody else holds: the others wait with it.
    private static let lockWait = Duration.milliseconds(300)

    private struct Replay: Sendable {
        var network: NetworkID
        var endpoint: EndpointID
        var after: UUID
        var until: UUID
        var types: [String]
        var onlyFailed: Bool
    }

    private let pool: PostgresPool
    private let ids: UUIDv7Generator
    private let replaysAtOnce: Int
    /// Behind whom the next page of replays begins, however many there are.
    private let last = Mutex((network: "", endpoint: ""))

    /// The replays in the database of `pool`, of which so many are gone on with at once; `ids` makes the ids of what is queued.
    package init(pool: PostgresPool, ids: UUIDv7Generator, replaysAtOnce: Int = 1_000) {
        self.pool = pool
        self.ids = ids
        self.replaysAtOnce = replaysAtOnce
    }

    /// Queues the next messages of all that is told once more, as far as what is queued for the same endpoint leaves room.
    ///
    /// Those of networks that move wait until they are somewhere. One that cannot go on keeps no other one from it.
    /// - Throws: The first error, when all have had their turn; at once where no other one would fare better.
    package func continueReplays() async throws -> Bool {
        let former = last.withLock(\.self)
        let orders = try await pool.query(
            """
            SELECT r.network_id, r.endpoint_id FROM replays r
            WHERE (r.network_id, r.endpoint_id) > (\(former.network), \(former.endpoint))
                AND NOT EXISTS (SELECT FROM networks n WHERE n.network_id = r.network_id AND n.away IS NOT NULL)
            ORDER BY r.network_id, r.endpoint_id LIMIT \(replaysAtOnce)
            """
        ) { row in
            (network: try row.id(0, of: Network.self), endpoint: try row.id(1, of: Endpoint.self))
        }
        var hasMore = orders.count == replaysAtOnce
        let end = hasMore ? orders.last : nil
        last.withLock { $0 = (end?.network.rawValue ?? "", end?.endpoint.rawValue ?? "") }
        var failure: (any Error)?
        for order in orders {
            do {
                if try await advance(order.endpoint, in: order.network) { hasMore = true }
            } catch  where error is CancellationError || error.isTransient && !error.isContention {
                throw error
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return hasMore
    }

    /// Goes one page further with a replay; whether there is room and reason for another.
    private func advance(_ endpoint: EndpointID, in network: NetworkID) async throws -> Bool {
        try await pool.write(lockWait: Self.lockWait) { session in
            guard let replay = try Self.lock(endpoint, in: network, session) else { return false }
            guard let retryTime = try Self.retryTime(of: endpoint, in: network, session) else {
                try Self.end(replay, session)
                return false
            }
            let room = replayBacklog - (try Self.backlog(of: replay, session))
            guard room > 0 else { return false }
            let (page, end) = try Self.page(of: replay, limit: min(room, Self.pageSize), session)
            let expiry = retryTime.now + retryTime.length
            var bundles = RelayBundles()
            let groups = page.map { former in
                DeliveryGroup(
                    id: bundles.bundle(for: former.id, in: Lane(endpoint, in: network), ids: ids),
                    telling: endpoint,
                    of: former,
                    in: network,
                    on: RelayTerms(expiresAt: expiry, isReplay: true)
                )
            }
            try session.insert(groups.joined)
            try Self.noteWaiting(page, of: replay, session)
            guard let end else {
                try Self.end(replay, session)
                return false
            }
            let moved = try session.execute(
                """
                UPDATE replays SET after_id = \(end)
                WHERE network_id = \(network.rawValue) AND endpoint_id = \(endpoint.rawValue)
                """
            )
            // A network that has begun to move takes no word of how far it is.
            return moved > 0 && room > page.count
        }
    }

    /// The replay, unless another replica is at it.
    private static func lock(
        _ endpoint: EndpointID,
        in network: NetworkID,
        _ session: borrowing PostgresSession
    ) throws -> Replay? {
        try session.queryFirst(
            """
            SELECT after_id, until_id, types, only_failed FROM replays
            WHERE network_id = \(network.rawValue) AND endpoint_id = \(endpoint.rawValue)
            FOR UPDATE SKIP LOCKED
            """
        ) { row in
            Replay(
                network: network,
                endpoint: endpoint,
                after: try row.decode(0),
                until: try row.decode(1),
                types: try row.decode(2),
                onlyFailed: try row.decode(3)
            )
        }
    }

    /// For how long the endpoint's messages are tried; `nil` when it is gone, or is told nothing.
    private static func retryTime(
        of endpoint: EndpointID,
        in network: NetworkID,
        _ session: borrowing PostgresSession
    ) throws -> (now: Timestamp, length: Duration)? {
        let found = try session.queryFirst(
            """
            SELECT \(sql: Row.endpointColumns), now() FROM endpoints
            WHERE network_id = \(network.rawValue) AND endpoint_id = \(endpoint.rawValue)
            """
        ) { row in (endpoint: try row.endpoint(), now: try row.timestamp(11)) }
        guard let found, case .observe(let observation) = found.endpoint.settings.role else { return nil }
        return (found.now, observation.retryTime)
    }

    private static func backlog(of replay: Replay, _ session: borrowing PostgresSession) throws -> Int {
        try session.queryQueue(
            """
            SELECT coalesce(sum(waiting.size), 0)::bigint FROM (
                SELECT d.size FROM deliveries d
                WHERE d.network_id = \(replay.network.rawValue) AND d.app_id = \(replay.endpoint.rawValue)
                    AND d.provider = 'relay'
                LIMIT \(replayBacklog)) AS waiting
            """
        ) { row in try row.decode(0, as: Int.self) }.first ?? 0
    }

    /// The next events, but for those of which a message waits; and the last that was looked at, unless it was the last of
    /// all.
    private static func page(
        of replay: Replay,
        limit: Int,
        _ session: borrowing PostgresSession
    ) throws -> (page: [RelayedEvent], end: UUID?) {
        let failed: SQL = replay.onlyFailed ? PostgresRelayHistory.isFailed(replay.endpoint) : ""
        var page: [RelayedEvent] = []
        var looked = 0
        var end: UUID?
        try session.forEach(
            .unprepared(
                """
                SELECT r.event_id, r.event_type, r.received_at,
                       r.event_type = ANY (\(replay.types)) \(sql: failed) AND NOT EXISTS (
                           SELECT FROM deliveries d
                           WHERE d.network_id = r.network_id AND d.app_id = \(replay.endpoint.rawValue)
                               AND d.event_id BETWEEN bundle_floor(r.event_id) AND r.event_id AND d.provider = 'relay'
                               AND bundle_has(d.event_id, d.targets, r.event_id))
                FROM relayed r
                WHERE r.network_id = \(replay.network.rawValue) AND r.event_id > \(replay.after)
                    AND r.event_id < \(replay.until)
                ORDER BY r.event_id LIMIT \(lookahead)
                """
            )
        ) { row in
            guard page.count < limit else { return }
            looked += 1
            end = try row.decode(0)
            guard try row.decode(3) else { return }
            let type = EventType(try row.decode(1))
            page.append(RelayedEvent(try row.eventID(0), type, receivedAt: try row.timestamp(2)))
        }
        return (page, looked < lookahead && page.count < limit ? nil : end)
    }

    private static func noteWaiting(
        _ page: [RelayedEvent],
        of replay: Replay,
        _ session: borrowing PostgresSession
    ) throws {
        guard !page.isEmpty else { return }
        _ = try session.executeOnQueue(
            """
            UPDATE relays SET state = 'pending'
            WHERE network_id = \(replay.network.rawValue) AND endpoint_id = \(replay.endpoint.rawValue)
                AND event_id = ANY (\(page.map(\.id.uuid)))
            """
        )
    }

    private static func end(_ replay: Replay, _ session: borrowing PostgresSession) throws {
        try session.execute(
            """
            DELETE FROM replays
            WHERE network_id = \(replay.network.rawValue) AND endpoint_id = \(replay.endpoint.rawValue)
            """
        )
    }
}
