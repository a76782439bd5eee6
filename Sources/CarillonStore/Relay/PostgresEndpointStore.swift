package import CarillonCore
import Postgres

/// The endpoints of networks in table `endpoints`, their secrets sealed with the master key.
package struct PostgresEndpointStore: EndpointStore {
    /// How much of what waits for an endpoint goes with it at once.
    private static let deletedAtOnce = 2_000

    private let databases: Placed<PlacementDatabase>

    package init(_ databases: Placed<PlacementDatabase>) {
        self.databases = databases
    }

    package func endpoints(of network: NetworkID) async throws -> [Endpoint] {
        try await databases.of(network).pool.withConnection { session in try session.endpoints(of: network) }
    }

    package func addEndpoint(
        _ endpoint: Endpoint,
        secret: WebhookSecret,
        of network: NetworkID,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let accounts = try await databases.toWrite(network).accounts
        let sealed = try EndpointSecrets(secret).sealed(accounts.box, of: endpoint.id, in: network)
        return try await accounts.once(request) { session in
            try session.lockNetwork(network)
            try session.endpoints(of: network).check(endpoint)
            try endpoint.insert(of: network, sealed: sealed, session)
            return true
        }
    }

    /// Writes what `change` makes of an endpoint, alone among the changes of its network's endpoints.
    package func updateEndpoint(
        _ id: EndpointID,
        of network: NetworkID,
        _ change: @escaping @Sendable (Endpoint) throws -> Endpoint
    ) async throws -> Endpoint? {
        try await databases.toWrite(network).pool.write { session in
            try session.lockNetwork(network)
            let (start, answers) = try session.start(numberedBy: .endpointRevisions, with: [.endpoints(of: network)])
            let all = try answers.flatMap { answer in try answer.map { row in try row.endpoint() } }
            guard let former = all.first(where: { $0.id == id }) else { return nil }
            let changed = try change(former)
            try all.filter { $0.id != id }.check(changed)
            try changed.update(in: network, revision: start.number, session)
            return changed
        }
    }

    /// Removes an endpoint; `false` when there is none. Of what waits for it as much goes at once as a transaction may take,
    /// and the rest is swept by the ``Housekeeper``.
    package func deleteEndpoint(_ id: EndpointID, of network: NetworkID) async throws -> Bool {
        try await databases.toWrite(network).pool.write { session in
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
        let accounts = try await databases.toWrite(network).accounts
        return try await accounts.once(request) { session in
            try session.lockNetwork(network)
            guard let stored = try session.sealedSecrets(of: id, in: network) else { return false }
            var secrets = try EndpointSecrets(opening: stored.sealed, accounts.box, of: id, in: network)
            secrets.rotate(to: secret, overlap: max(.zero, overlap), at: stored.now)
            let sealed = try secrets.sealed(accounts.box, of: id, in: network)
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
        let database = try await databases.of(network)
        let stored = try await database.pool.withConnection { try $0.sealedSecrets(of: id, in: network) }
        guard let stored else { return [] }
        return try EndpointSecrets(opening: stored.sealed, database.box, of: id, in: network).valid(at: stored.now)
    }
}

extension PostgresSession {
    /// A network's endpoints, the oldest first.
    func endpoints(of network: NetworkID) throws -> [Endpoint] {
        try query(.endpoints(of: network)) { row in try row.endpoint() }
    }

    /// The same for whoever looks at many networks; `nil` for what only a later release can read.
    func readableEndpoints(of network: NetworkID) throws -> [Endpoint?] {
        try query(.endpoints(of: network)) { row in try? row.endpoint() }
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

extension SQL {
    fileprivate static func endpoints(of network: NetworkID) -> SQL {
        """
        SELECT \(sql: Row.endpointColumns) FROM endpoints WHERE network_id = \(network.rawValue) ORDER BY endpoint_id
        """
    }
}
