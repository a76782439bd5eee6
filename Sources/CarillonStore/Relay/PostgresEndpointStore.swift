package import CarillonCore
import Postgres

/// The endpoints of networks in table `endpoints`, their secrets sealed with the master key.
package struct PostgresEndpointStore: EndpointStore, EndpointListSource, EndpointLog {
    /// How much of what waits for an endpoint goes with it at once.
    private static let deletedAtOnce = 2_000

    let accounts: PostgresAccountStore

    var pool: PostgresPool { accounts.pool }
    var box: SecretBox { accounts.box }

    /// A store beside that of the networks.
    package init(accounts: PostgresAccountStore) {
        self.accounts = accounts
    }

    package func endpoints(of network: NetworkID) async throws -> [Endpoint] {
        try await pool.withConnection { session in try session.endpoints(of: network) }
    }

    package func addEndpoint(
        _ endpoint: Endpoint,
        secret: WebhookSecret,
        of network: NetworkID,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let sealed = try EndpointSecrets(secret).sealed(box, of: endpoint.id, in: network)
        return try await accounts.once(request) { session in
            try session.lockNetwork(network)
            try session.endpoints(of: network).check(endpoint)
            try StoredEndpoint(endpoint).insert(of: network, sealed: sealed, session)
            return true
        }
    }

    /// Writes what `change` makes of an endpoint, alone among the changes of its network's endpoints.
    package func updateEndpoint(
        _ id: EndpointID,
        of network: NetworkID,
        _ change: @escaping @Sendable (Endpoint) throws -> Endpoint
    ) async throws -> Endpoint? {
        try await pool.write { session in
            try session.lockNetwork(network)
            let (start, answers) = try session.start(numberedBy: .endpointRevisions, with: [.endpoints(of: network)])
            let all = try answers.flatMap { answer in try answer.map { row in try row.endpoint() } }
            guard let former = all.first(where: { $0.id == id }) else { return nil }
            let changed = try change(former)
            try all.filter { $0.id != id }.check(changed)
            try StoredEndpoint(changed).update(in: network, revision: start.number, session)
            return changed
        }
    }

    /// Removes an endpoint; `false` when there is none. Of what waits for it as much goes at once as a transaction may take,
    /// and the rest is swept by the ``Housekeeper``.
    package func deleteEndpoint(_ id: EndpointID, of network: NetworkID) async throws -> Bool {
        try await pool.write { session in
            let isGone = try session.execute(
                "DELETE FROM endpoints WHERE network_id = \(network.rawValue) AND endpoint_id = \(id.rawValue)"
            )
            guard isGone > 0 else { return false }
            try session.execute(
                "DELETE FROM replays WHERE network_id = \(network.rawValue) AND endpoint_id = \(id.rawValue)"
            )
            _ = try session.emptyLane(of: id.rawValue, in: network.rawValue, upTo: Self.deletedAtOnce)
            return true
        }
    }

    package func rotateEndpointSecret(
        of id: EndpointID,
        in network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        try await accounts.once(request) { session in
            try session.lockNetwork(network)
            guard let stored = try session.sealedSecrets(of: id, in: network) else { return false }
            var secrets = try EndpointSecrets(opening: stored.sealed, box, of: id, in: network)
            secrets.rotate(to: secret, overlap: max(.zero, overlap), at: stored.now)
            let sealed = try secrets.sealed(box, of: id, in: network)
            try session.execute(
                """
                UPDATE endpoints SET sealed = \(sealed)
                WHERE network_id = \(network.rawValue) AND endpoint_id = \(id.rawValue)
                """
            )
            return true
        }
    }

    package func endpointSecrets(of id: EndpointID, in network: NetworkID) async throws -> [WebhookSecret] {
        guard let stored = try await pool.withConnection({ try $0.sealedSecrets(of: id, in: network) }) else {
            return []
        }
        return try EndpointSecrets(opening: stored.sealed, box, of: id, in: network).valid(at: stored.now)
    }

    /// Writes down how endpoints fare that are asked; of those that were removed nothing.
    package func note(_ notes: [EndpointNote.Key: EndpointNote]) async throws {
        let rows = notes.sorted { $0.key < $1.key }
        guard !rows.isEmpty else { return }
        try await pool.write { session in
            _ = try session.execute(
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

extension PostgresSession {
    /// A network's endpoints, the oldest first.
    func endpoints(of network: NetworkID) throws -> [Endpoint] {
        try query(.endpoints(of: network)) { row in try row.endpoint() }
    }

    fileprivate func sealedSecrets(
        of id: EndpointID,
        in network: NetworkID
    ) throws -> (sealed: [UInt8], now: Timestamp)? {
        try queryFirst(
            """
            SELECT sealed, now() FROM endpoints
            WHERE network_id = \(network.rawValue) AND endpoint_id = \(id.rawValue)
            """
        ) { row in (sealed: try row.decode(0), now: try row.timestamp(1)) }
    }
}

extension SQL {
    fileprivate static func endpoints(of network: NetworkID) -> SQL {
        """
        SELECT \(sql: Row.endpointColumns) FROM endpoints WHERE network_id = \(network.rawValue) ORDER BY endpoint_id
        """
    }
}

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
