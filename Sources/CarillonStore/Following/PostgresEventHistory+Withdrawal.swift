package import CarillonCore
import Postgres

extension PostgresEventHistory {
    /// Replicas that hold some of it in memory look at it again before they send it, as after a change of toggles.
    package func withdraw(_ id: EventID, in network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
            guard try EventStatusReader(network: network).isKnown(id, session) else { return false }
            try session.execute(
                """
                INSERT INTO withdrawals (network_id, event_id, withdrawn_at)
                VALUES (\(network.rawValue), \(id.uuid), now())
                ON CONFLICT (network_id, event_id) DO UPDATE SET withdrawn_at = EXCLUDED.withdrawn_at
                """
            )
            // Waits for whoever writes a page of it just now, so that its deliveries are seen below. Whoever looks for its
            // recipients has lost it; whoever claims it next ends it, and tells endpoints of it all the same.
            _ = try session.executeOnQueue(
                """
                UPDATE inbox i SET withdrawn = true, leased = false, lease_token = i.lease_token + 1, run_at = now()
                WHERE i.network_id = \(network.rawValue) AND i.event_id = \(id.uuid)
                """
            )
            _ = try session.executeOnQueue(
                """
                UPDATE deliveries d SET expires_at = least(d.expires_at, now())
                FROM (SELECT group_id FROM deliveries
                      WHERE network_id = \(network.rawValue) AND event_id = \(id.uuid) AND provider <> 'relay'
                      ORDER BY group_id FOR NO KEY UPDATE) AS waiting
                WHERE d.network_id = \(network.rawValue) AND d.group_id = waiting.group_id
                """
            )
            try session.recordChanges(of: [(network, nil)])
            return true
        }
    }
}
