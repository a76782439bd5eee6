package import CarillonCore
import Postgres

extension PostgresEndpointStore: RelaySource, QuestionSource {
    /// What a question to an endpoint about an event in the inbox is made of, in one query.
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

    /// The messages of these keys; none where there is no such endpoint.
    package func relayMessages(_ keys: [RelayKey]) async throws -> [RelayKey: RelayMessage] {
        guard !keys.isEmpty else { return [:] }
        typealias Found = (key: RelayKey, endpoint: Endpoint, sealed: [UInt8], body: [UInt8]?, now: Timestamp)
        let found = try await pool.withConnection { session in
            try session.query(
                """
                SELECT e.*, r.body, now(), n.position
                FROM unnest(\(keys.map(\.networkID.rawValue)), \(keys.map(\.endpointID.rawValue)),
                            \(keys.map(\.eventID.uuid))) WITH ORDINALITY
                    AS n (network_id, endpoint_id, event_id, position)
                CROSS JOIN LATERAL (
                    SELECT \(sql: Row.endpointColumns), sealed FROM endpoints e
                    WHERE e.network_id = n.network_id AND e.endpoint_id = n.endpoint_id LIMIT 1
                ) AS e
                LEFT JOIN LATERAL (
                    SELECT r.body FROM relayed r
                    WHERE r.network_id = n.network_id AND r.event_id = n.event_id LIMIT 1
                ) AS r ON true
                """
            ) { row -> Found in
                (
                    keys[try row.decode(14, as: Int.self) - 1], try row.endpoint(), try row.decode(11),
                    try row.decode(12, as: String?.self).map { Array($0.utf8) }, try row.timestamp(13)
                )
            }
        }
        var secrets: [[UInt8]: [WebhookSecret]] = [:]
        var messages: [RelayKey: RelayMessage] = [:]
        for (key, endpoint, sealed, body, now) in found {
            let opened = secrets[sealed] ?? opened(sealed, of: key.endpointID, in: key.networkID, at: now)
            secrets[sealed] = opened
            messages[key] = RelayMessage(
                settings: endpoint.settings,
                state: endpoint.state,
                secrets: opened,
                body: body
            )
        }
        return messages
    }

    /// The secrets that sign; none when they cannot be read, which must not keep others from being told.
    private func opened(
        _ sealed: [UInt8],
        of endpoint: EndpointID,
        in network: NetworkID,
        at now: Timestamp
    ) -> [WebhookSecret] {
        (try? EndpointSecrets(opening: sealed, box, of: endpoint, in: network).valid(at: now)) ?? []
    }
}
