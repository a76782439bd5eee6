public import CarillonCore
import Postgres

extension PostgresDeliveryQueue {
    /// Makes what waits in a provider's lanes due now, of one app or, without `appID`, of all.
    public func makeDue(_ provider: ProviderName, appID: String?, in network: NetworkID) async throws {
        try await pool.write { session in
            try session.executeOnQueue(
                """
                UPDATE deliveries SET run_at = now()
                WHERE (network_id, group_id) IN (
                    SELECT d.network_id, d.group_id FROM deliveries d
                    WHERE d.network_id = \(network.rawValue) AND d.provider = \(provider.rawValue)
                        AND d.app_id = coalesce(\(appID as String?), d.app_id)
                        AND NOT d.leased AND d.run_at > now()
                    ORDER BY d.group_id
                    FOR UPDATE SKIP LOCKED)
                """
            )
        }
    }

    /// Lets go the brake of a lane until a moment, in all replicas.
    public func releaseBrake(of lane: Lane, until end: Timestamp) async throws {
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
    public func releasedBrakes() async throws -> Set<Lane> {
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
