package import CarillonCore
import Postgres

extension PostgresDeliveryQueue {
    /// How many rows become due in one transaction.
    private static let batchSize = 500

    /// Makes what waits for a provider's lanes due now, of one app or, without `appID`, of all; in transactions of bounded
    /// size, so that nothing of the queue is locked for long.
    ///
    /// What was settled or given back by an earlier version has no reason: that it never failed tells the same.
    package func makeDue(_ provider: ProviderName, appID: String?, in network: NetworkID) async throws {
        var count = Self.batchSize
        while count == Self.batchSize {
            count = try await pool.write { session in
                try session.executeOnQueue(
                    """
                    WITH picked AS MATERIALIZED (
                        SELECT d.network_id, d.group_id FROM deliveries d
                        WHERE d.network_id = \(network.rawValue) AND d.provider = \(provider.rawValue)
                            AND d.app_id = coalesce(\(appID as String?), d.app_id)
                            AND NOT d.leased AND d.run_at > now() AND (d.lane_reason IS NOT NULL OR d.attempt = 0)
                        LIMIT \(Self.batchSize)
                        FOR UPDATE SKIP LOCKED
                    )
                    UPDATE deliveries d SET run_at = now()
                    FROM picked p WHERE d.network_id = p.network_id AND d.group_id = p.group_id
                    """
                )
            }
        }
    }

    /// Lets go the brake of a lane until a moment, in all replicas.
    package func releaseBrake(of lane: Lane, until end: Timestamp) async throws {
        try await pool.write { session in
            _ = try session.execute(
                """
                INSERT INTO released_brakes (network_id, provider, app_id, until)
                VALUES (\(lane.networkID.rawValue), \(lane.provider.rawValue), \(lane.appID), \(end.stored))
                ON CONFLICT (network_id, provider, app_id) DO UPDATE SET until = EXCLUDED.until
                """
            )
        }
    }

    /// The lanes whose brake is let go now.
    package func releasedBrakes() async throws -> Set<Lane> {
        try await pool.withConnection { session in
            let lanes = try session.query(
                "SELECT network_id, provider, app_id FROM released_brakes WHERE until > now()"
            ) { row in
                Lane(networkID: try row.id(0), provider: try row.choice(1), appID: try row.decode(2))
            }
            return Set(lanes)
        }
    }
}
