import CarillonCore
import Foundation
import Postgres

/// Forgets the bodies that no endpoint may be told of any more, and what waits for endpoints that were removed.
struct RelaySweep: Sendable {
    private static let batchSize = 2_000

    let pool: PostgresPool

    /// Goes through all networks of which bodies are kept: each keeps them for as long as the endpoint that wants them longest,
    /// and what is on its way in any case.
    func sweep() async throws {
        for lane in try await lanesOfNobody() {
            try await pool.takingTurns(at: "relays: \(lane.network)", batchSize: Self.batchSize) { session in
                try session.executeOnQueue(Self.emptyLane(of: lane.endpoint, in: lane.network))
            }
        }
        for (network, end) in try await networks() {
            try await pool.takingTurns(at: "relayed: \(network)", batchSize: Self.batchSize) { session in
                try session.executeOnQueue(Self.statement(network, before: end))
            }
        }
    }

    /// The lanes in which something waits for endpoints that were removed: from lane to lane by the index of what waits.
    private func lanesOfNobody() async throws -> [(network: String, endpoint: String)] {
        try await pool.withConnection { session in
            try session.queryQueue(
                """
                WITH RECURSIVE walk AS (
                    (SELECT d.network_id, d.app_id FROM deliveries d WHERE d.provider = 'relay'
                     ORDER BY d.network_id, d.app_id LIMIT 1)
                    UNION ALL
                    SELECT following.network_id, following.app_id
                    FROM walk w CROSS JOIN LATERAL (
                        SELECT d.network_id, d.app_id FROM deliveries d
                        WHERE d.provider = 'relay' AND (d.network_id, d.app_id) > (w.network_id, w.app_id)
                        ORDER BY d.network_id, d.app_id LIMIT 1
                    ) AS following
                )
                SELECT w.network_id, w.app_id FROM walk w
                WHERE NOT EXISTS (SELECT FROM endpoints e
                                  WHERE e.network_id = w.network_id AND e.endpoint_id = w.app_id)
                LIMIT 100
                """
            ) { row in (try row.decode(0), try row.decode(1)) }
        }
    }

    /// Deletes some of what waits in the lane of an endpoint that is not there, but for what somebody has in hand.
    static func emptyLane(of endpoint: String, in network: String) -> SQL {
        """
        WITH picked AS MATERIALIZED (
            SELECT d.network_id, d.group_id FROM deliveries d
            WHERE d.network_id = \(network) AND d.app_id = \(endpoint) AND d.provider = 'relay' AND NOT d.leased
                AND NOT EXISTS (SELECT FROM endpoints e
                                WHERE e.network_id = \(network) AND e.endpoint_id = \(endpoint))
            LIMIT \(batchSize)
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM deliveries d USING picked p WHERE d.network_id = p.network_id AND d.group_id = p.group_id
        """
    }

    /// The networks of which bodies are kept, with what comes after all that is older than it has to be.
    private func networks() async throws -> [(network: NetworkID, end: UUID)] {
        try await pool.withConnection { session in
            let networks = try session.query(
                """
                WITH RECURSIVE walk AS (
                    (SELECT r.network_id FROM relayed r ORDER BY r.network_id LIMIT 1)
                    UNION ALL
                    SELECT following.network_id
                    FROM walk w CROSS JOIN LATERAL (
                        SELECT r.network_id FROM relayed r WHERE r.network_id > w.network_id ORDER BY r.network_id LIMIT 1
                    ) AS following
                )
                SELECT network_id FROM walk
                """
            ) { row in try row.id(0, of: Network.self) }
            return try networks.map { network in
                let hours = try session.endpoints(of: network).compactMap { endpoint -> Int? in
                    guard case .observe(let observation) = endpoint.settings.role else { return nil }
                    return observation.replayHours
                }
                let now = try session.queryFirst("SELECT now()") { row in try row.timestamp(0) }
                let end = (now ?? Timestamp(milliseconds: 0)) - .seconds((hours.max() ?? 0) * 3_600)
                return (network, .version7Floor(of: end))
            }
        }
    }

    private static func statement(_ network: NetworkID, before end: UUID) -> SQL {
        """
        DELETE FROM relayed r
        WHERE r.network_id = \(network.rawValue) AND r.event_id = ANY (ARRAY(
            SELECT old.event_id FROM relayed old
            WHERE old.network_id = \(network.rawValue) AND old.event_id < \(end)
                AND NOT EXISTS (SELECT FROM deliveries d
                                WHERE d.network_id = old.network_id AND d.provider = 'relay'
                                    AND d.event_id BETWEEN bundle_floor(old.event_id) AND old.event_id
                                    AND bundle_has(d.event_id, d.targets, old.event_id))
            ORDER BY old.event_id LIMIT \(batchSize)))
        """
    }
}
