import CarillonCore
import Foundation
import Postgres
import Synchronization

/// Forgets the bodies that no endpoint may be told of any more, and what waits for endpoints that were removed.
final class RelaySweep: Sendable {
    private static let batchSize = 2_000

    private let pool: PostgresPool
    private let mostInVain: Int
    private let chores: Chores
    /// Where sweeps that found too much that has to stay have ended.
    private let cursors = Mutex<[NetworkID: UUID]>([:])
    /// How far what waits has been looked through.
    private let waiting = PageRounds(through: "deliveries")

    /// A sweep that leaves the rest of a network to the next after so many of its bodies that have to stay.
    init(pool: PostgresPool, mostInVain: Int = 100_000, chores: Chores = Chores()) {
        self.pool = pool
        self.mostInVain = mostInVain
        self.chores = chores
    }

    /// Goes through all networks of which bodies are kept: each keeps them for as long as the endpoint that wants them longest,
    /// and what is on its way, or is still to be told once more, in any case.
    ///
    /// What fails in one network does not keep the others from being swept.
    /// - Throws: The first error, when all has been tried.
    func sweep() async throws {
        var failure: (any Error)?
        func attempt(_ name: String, _ step: () async throws -> Void) async {
            let error = await chores.attempt(name, step)
            failure = failure ?? error
        }
        await attempt("relays") {
            for lane in try await lanesOfNobody() {
                await attempt("relays: \(lane.network) \(lane.endpoint)") { try await empty(lane) }
            }
        }
        await attempt("relayed") {
            let networks = try await networks()
            let names = Set(networks.map(\.network))
            cursors.withLock { cursors in cursors = cursors.filter { names.contains($0.key) } }
            for (network, end) in networks {
                await attempt("relayed: \(network)") { try await forget(network, before: end) }
            }
        }
        if let failure { throw failure }
    }

    private func empty(_ lane: (network: String, endpoint: String)) async throws {
        try await pool.repeatingWithTaskLock(on: "relays: \(lane.network)", batchSize: Self.batchSize) { session in
            try session.emptyLane(of: lane.endpoint, in: lane.network, upTo: Self.batchSize)
        }
    }

    /// Forgets a network's bodies that are old enough, but for those that wait.
    private func forget(_ network: NetworkID, before end: UUID) async throws {
        var kept = 0
        var cursor = cursors.withLock { $0[network] } ?? .smallest
        while kept < mostInVain {
            let step = try await pool.withTaskLock(on: "relayed: \(network)") { [cursor] session in
                try Self.step(of: network, after: cursor, before: end, session)
            }
            // Another replica is at it.
            guard let step else { break }
            guard let last = step.last else {
                cursors.withLock { $0[network] = nil }
                return
            }
            kept += step.kept
            cursor = last
        }
        cursors.withLock { [cursor] in $0[network] = cursor }
    }

    /// The lanes in which something waits for endpoints that were removed, among the next pages of what waits.
    private func lanesOfNobody() async throws -> [(network: String, endpoint: String)] {
        try await waiting.next(in: pool) { rows in
            """
            SELECT DISTINCT d.network_id, d.app_id FROM \(sql: rows) AS d
            WHERE d.provider = 'relay'
                AND NOT EXISTS (SELECT FROM endpoints e
                                WHERE e.network_id = d.network_id AND e.endpoint_id = d.app_id)
            """
        } _: { row in
            (network: try row.decode(0, as: String.self), endpoint: try row.decode(1, as: String.self))
        }
    }

    /// The networks of which bodies are kept, with what comes after all that is older than it has to be.
    private func networks() async throws -> [(network: NetworkID, end: UUID)] {
        try await pool.withConnection { session in
            let networks = try session.query(
                "WITH RECURSIVE walk AS (\(sql: .walk(overNetworksIn: "relayed"))) SELECT network_id FROM walk"
            ) { row in try row.id(0, of: Network.self) }
            return try networks.map { network in
                // What only a later release can read may want them for as long as any endpoint.
                let hours = try session.readableEndpoints(of: network).compactMap { endpoint -> Int? in
                    guard let endpoint else { return EndpointRole.Observation.replayHours.upperBound }
                    guard case .observe(let observation) = endpoint.settings.role else { return nil }
                    return observation.replayHours
                }
                let now = try session.now()
                let end = UUID.version7Floor(of: now - .seconds((hours.max() ?? 0) * 3_600))
                let replayed = try session.first(
                    """
                    SELECT r.after_id FROM replays r WHERE r.network_id = \(network.rawValue) AND EXISTS (
                        SELECT FROM endpoints e
                        WHERE e.network_id = r.network_id AND e.endpoint_id = r.endpoint_id AND e.state = 'enabled')
                    ORDER BY r.after_id LIMIT 1
                    """,
                    as: UUID.self
                )
                // One that stands still does not keep them for ever.
                let oldest = UUID.version7Floor(of: now - .seconds(Housekeeper.retentionDays * 86_400))
                return (network, min(end, max(oldest, replayed ?? end)))
            }
        }
    }

    /// Deletes those of the next bodies for which no message waits; answers how many stay, and the last that was looked at, `nil` when it
    /// was the last of all.
    ///
    /// Rows of messages are read once for all of these bodies, which are neighbours, not for each: a row has many messages.
    private static func step(
        of network: NetworkID,
        after cursor: UUID,
        before end: UUID,
        _ session: borrowing PostgresSession
    ) throws -> (kept: Int, last: UUID?) {
        let bodies = try session.query(
            """
            SELECT r.event_id FROM relayed r
            WHERE r.network_id = \(network.rawValue) AND r.event_id > \(cursor) AND r.event_id < \(end)
            ORDER BY r.event_id LIMIT \(batchSize)
            """
        ) { row in try row.decode(0, as: UUID.self) }
        guard let first = bodies.first, let last = bodies.last else { return (0, nil) }
        let waiting = try session.queryQueue(
            """
            SELECT DISTINCT message.event_id
            FROM deliveries d CROSS JOIN LATERAL bundle_events(d.event_id, d.targets) AS message (event_id)
            WHERE d.network_id = \(network.rawValue) AND d.provider = 'relay'
                AND d.event_id BETWEEN bundle_floor(\(first)) AND \(last)
                AND message.event_id BETWEEN \(first) AND \(last)
            """
        ) { row in try row.decode(0, as: UUID.self) }
        let old = Set(bodies).subtracting(waiting)
        if !old.isEmpty {
            _ = try session.executeOnQueue(
                "DELETE FROM relayed WHERE network_id = \(network.rawValue) AND event_id = ANY (\(Array(old)))"
            )
        }
        return (bodies.count - old.count, bodies.count == batchSize ? last : nil)
    }
}
