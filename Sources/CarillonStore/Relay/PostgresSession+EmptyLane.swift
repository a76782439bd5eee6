import Postgres

extension PostgresSession {
    /// Deletes some of what waits in the lane of an endpoint that is not there, but for what somebody has in hand.
    ///
    /// - Returns: How many rows, at most `count`.
    func emptyLane(of endpoint: String, in network: String, upTo count: Int) throws -> Int {
        try executeOnQueue(
            """
            WITH picked AS MATERIALIZED (
                SELECT d.network_id, d.group_id FROM deliveries d
                WHERE d.network_id = \(network) AND d.app_id = \(endpoint) AND d.provider = 'relay' AND NOT d.leased
                    AND NOT EXISTS (SELECT FROM endpoints e
                                    WHERE e.network_id = \(network) AND e.endpoint_id = \(endpoint))
                LIMIT \(count)
                FOR UPDATE SKIP LOCKED
            )
            DELETE FROM deliveries d USING picked p
            WHERE \(sql: .hasKey("d", "group_id", of: "p"))
            """
        )
    }
}
