package import CarillonCore
import Postgres

extension PostgresEndpointLog: RelaySource, QuestionSource {
    package func questionMaterial(_ key: RelayKey) async throws -> QuestionMaterial {
        let found = try await pool.withConnection { session in
            try session.queryFirst(
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
