package import CarillonCore
package import Postgres

/// The endpoints of a placement, for those who ask and tell them.
package struct PostgresEndpointLog: EndpointListSource, EndpointLog, RelaySource, QuestionSource {
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

    package func questionMaterial(_ key: RelayKey) async throws -> QuestionMaterial {
        let found = try await pool.queryFirst(
            """
            SELECT e.sealed, now(), i.body
            FROM (SELECT \(key.networkID.rawValue), \(key.endpointID.rawValue), \(key.eventID.uuid))
                AS n (network_id, endpoint_id, event_id)
            CROSS JOIN LATERAL (
                SELECT e.sealed FROM endpoints e
                WHERE e.network_id = n.network_id AND e.endpoint_id = n.endpoint_id LIMIT 1
            ) AS e
            LEFT JOIN LATERAL (
                SELECT i.body FROM inbox i
                WHERE i.network_id = n.network_id AND i.event_id = n.event_id LIMIT 1
            ) AS i ON true
            """
        ) { row in
            (
                sealed: try row.decode(0, as: [UInt8].self), now: try row.timestamp(1),
                body: try row.decode(2, as: String?.self)
            )
        }
        guard let found else { return QuestionMaterial(secrets: [], body: nil) }
        let secrets = try EndpointSecrets(opening: found.sealed, box, of: key.endpointID, in: key.networkID)
        return QuestionMaterial(secrets: secrets.valid(at: found.now), body: found.body.map { Array($0.utf8) })
    }

    package func relayMessages(_ keys: [RelayKey]) async throws -> [RelayKey: RelayMessage] {
        guard !keys.isEmpty else { return [:] }
        let (found, bodies) = try await pool.withConnection { session in
            (try session.relayEndpoints(keys), try session.relayedBodies(keys))
        }
        var endpoints: [Lane: (endpoint: Endpoint, secrets: [WebhookSecret])] = [:]
        for one in found {
            // That they cannot be read must not keep others from being told.
            let secrets = try? EndpointSecrets(opening: one.sealed, box, of: one.endpoint.id, in: one.lane.networkID)
            endpoints[one.lane] = (one.endpoint, secrets?.valid(at: one.now) ?? [])
        }
        var messages: [RelayKey: RelayMessage] = [:]
        for key in keys {
            guard let told = endpoints[Lane(key.endpointID, in: key.networkID)] else { continue }
            messages[key] = RelayMessage(
                settings: told.endpoint.settings,
                state: told.endpoint.state,
                secrets: told.secrets,
                body: bodies[BodyKey(key)]?.bytes,
                trace: bodies[BodyKey(key)]?.trace
            )
        }
        return messages
    }
}

private struct BodyKey: Hashable {
    let network: NetworkID
    let event: EventID

    init(_ key: RelayKey) {
        network = key.networkID
        event = key.eventID
    }
}

extension PostgresSession {
    /// The endpoints of messages, each once, with the time.
    fileprivate func relayEndpoints(
        _ keys: [RelayKey]
    ) throws -> [(lane: Lane, endpoint: Endpoint, sealed: [UInt8], now: Timestamp)] {
        let lanes = Array(Set(keys.map { Lane($0.endpointID, in: $0.networkID) }))
        return try query(
            """
            SELECT e.*, now(), n.position
            FROM unnest(\(lanes.map(\.networkID.rawValue)), \(lanes.map(\.appID))) WITH ORDINALITY
                AS n (network_id, endpoint_id, position)
            CROSS JOIN LATERAL (
                SELECT \(sql: Row.endpointColumns), sealed FROM endpoints e
                WHERE e.network_id = n.network_id AND e.endpoint_id = n.endpoint_id LIMIT 1
            ) AS e
            """
        ) { row in
            (
                lanes[try row.decode(13, as: Int.self) - 1], try row.endpoint(), try row.decode(11),
                try row.timestamp(12)
            )
        }
    }

    /// The bodies of messages, each once, with the traces that these are of.
    fileprivate func relayedBodies(
        _ keys: [RelayKey]
    ) throws -> [BodyKey: (bytes: [UInt8], trace: TraceContext?)] {
        let wanted = Array(Set(keys.map(BodyKey.init)))
        var bodies: [BodyKey: (bytes: [UInt8], trace: TraceContext?)] = [:]
        try forEach(
            """
            SELECT r.body, n.position, r.trace
            FROM unnest(\(wanted.map(\.network.rawValue)), \(wanted.map(\.event.uuid))) WITH ORDINALITY
                AS n (network_id, event_id, position)
            CROSS JOIN LATERAL (
                SELECT r.body, r.trace FROM relayed r
                WHERE r.network_id = n.network_id AND r.event_id = n.event_id LIMIT 1
            ) AS r
            """
        ) { row in
            let bytes = Array(try row.decode(0, as: String.self).utf8)
            bodies[wanted[try row.decode(1, as: Int.self) - 1]] = (bytes, try row.trace(2))
        }
        return bodies
    }
}
