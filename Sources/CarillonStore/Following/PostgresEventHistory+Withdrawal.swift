package import CarillonCore
import Postgres

extension PostgresEventHistory {
    /// Takes back what of an event still waits; `false` when the event is unknown.
    ///
    /// Replicas that hold some of it in memory look at it again before they send it, as after a change of toggles.
    package func withdraw(_ id: EventID, in network: NetworkID) async throws -> Bool {
        try await pool.write { session in
            guard try EventStatusReader(network: network).isKnown(id, session) else { return false }
            try session.execute(
                """
                INSERT INTO withdrawals (network_id, event_id) VALUES (\(network.rawValue), \(id.uuid))
                ON CONFLICT (network_id, event_id) DO UPDATE SET withdrawn_at = now()
                """
            )
            // Waits for whoever writes a page of it just now, so that its deliveries are seen below.
            _ = try session.executeOnQueue(
                """
                WITH done AS (
                    DELETE FROM inbox i WHERE i.network_id = \(network.rawValue) AND i.event_id = \(id.uuid)
                    RETURNING i.network_id, i.event_id, i.source_id, i.event_type, i.received_at, i.resolved, i.notified,
                        i.suppressed_network, i.suppressed_user, i.suppressed_channel, i.no_device
                )
                INSERT INTO events (network_id, event_id, source_id, event_type, received_at, resolved, notified,
                                    suppressed_network, suppressed_user, suppressed_channel, no_device)
                SELECT * FROM done
                """
            )
            _ = try session.executeOnQueue(
                """
                UPDATE deliveries d SET expires_at = least(d.expires_at, now())
                FROM (SELECT group_id FROM deliveries
                      WHERE network_id = \(network.rawValue) AND event_id = \(id.uuid)
                      ORDER BY group_id FOR NO KEY UPDATE) AS waiting
                WHERE d.network_id = \(network.rawValue) AND d.group_id = waiting.group_id
                """
            )
            try session.recordChanges(of: [(network, nil)])
            return true
        }
    }
}
