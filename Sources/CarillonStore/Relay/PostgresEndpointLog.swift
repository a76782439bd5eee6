package import CarillonCore
package import Postgres

/// The endpoints of a placement, for those who ask and tell them.
package struct PostgresEndpointLog: EndpointListSource, EndpointLog {
    let pool: PostgresPool
    let box: SecretBox

    package init(pool: PostgresPool, box: SecretBox) {
        self.pool = pool
        self.box = box
    }

    /// Writes down how endpoints fare that are asked; of those that were removed nothing.
    package func note(_ outcomes: [EndpointOutcome.Key: EndpointOutcome]) async throws {
        let rows = outcomes.sorted { $0.key < $1.key }
        guard !rows.isEmpty else { return }
        try await pool.write(
            """
            UPDATE endpoints e
            SET last_success_at = coalesce(v.succeeded_at, e.last_success_at), last_error = v.error
            FROM (
                SELECT present.network_id, present.endpoint_id, n.succeeded_at, n.error
                FROM unnest(\(rows.map(\.key.network.rawValue)), \(rows.map(\.key.endpoint.rawValue)),
                            \(rows.map { $0.value.succeededAt?.stored }), \(rows.map(\.value.error)))
                    AS n (network_id, endpoint_id, succeeded_at, error)
                CROSS JOIN LATERAL (
                    SELECT s.network_id, s.endpoint_id FROM endpoints s
                    WHERE s.network_id = n.network_id AND s.endpoint_id = n.endpoint_id
                    LIMIT 1
                    FOR NO KEY UPDATE
                ) AS present
            ) AS v
            WHERE e.network_id = v.network_id AND e.endpoint_id = v.endpoint_id
            """
        )
    }

    package func endpointList(unless version: EndpointList.Version?) async throws -> EndpointList? {
        try await pool.snapshot { session in
            let present = try session.queryFirst("SELECT count(*), coalesce(sum(revision), 0)::bigint FROM endpoints") {
                row in
                EndpointList.Version(count: try row.decode(0), revisions: try row.decode(1))
            }
            guard let present, present != version else { return nil }
            var endpoints: [NetworkID: [Endpoint]] = [:]
            try session.forEach(
                """
                SELECT network_id, endpoint_id, mode, url, events, settings, state, state_reason, state_at, created_at,
                       NULL::timestamptz, NULL::text
                FROM endpoints ORDER BY network_id, endpoint_id
                """
            ) { row in
                // What only a later release can read is no endpoint to this one.
                guard let endpoint = try? row.endpoint(at: 1) else { return }
                endpoints[try row.id(0), default: []].append(endpoint)
            }
            return EndpointList(version: present, endpoints: endpoints)
        }
    }
}
