package import CarillonCore
package import Postgres

/// How one endpoint fares, for whoever looks after the service.
package struct EndpointCondition: Sendable {
    package var network: NetworkID
    package var endpoint: Endpoint
    /// Whether its secret can be read.
    package var isReadable: Bool
    /// Why nothing is sent to it at the moment, if that is so.
    package var pause: String?
    /// How many messages wait for it, as far as they are counted.
    package var backlog: Int
}

/// Looks at all endpoints of all networks.
package struct EndpointConditionReader: Sendable {
    package static let mostEndpoints = 1_000
    /// How many messages are counted that wait for one.
    package static let mostCounted = 1_000

    private let pool: PostgresPool
    private let box: SecretBox?

    /// A reader of the database of `pool`; without `box` nothing is said of secrets.
    package init(pool: PostgresPool, box: SecretBox?) {
        self.pool = pool
        self.box = box
    }

    /// The endpoints by their networks, the oldest first, but for those that only a later release can read.
    package func conditions() async throws -> [EndpointCondition] {
        try await pool.withConnection { session in
            let now = try session.now()
            return try session.queryQueue(
                """
                SELECT \(sql: Row.endpointColumns), e.sealed, e.network_id,
                       (SELECT l.pause_reason FROM lanes l
                        WHERE l.network_id = e.network_id AND l.provider = 'relay' AND l.app_id = e.endpoint_id
                            AND l.paused_until > now()),
                       (SELECT least(coalesce(sum(waiting.size), 0), \(Self.mostCounted))::bigint
                        FROM (SELECT d.size FROM deliveries d
                              WHERE d.network_id = e.network_id AND d.app_id = e.endpoint_id AND d.provider = 'relay'
                              LIMIT \(Self.mostCounted)) AS waiting)
                FROM endpoints e ORDER BY e.network_id, e.endpoint_id LIMIT \(Self.mostEndpoints)
                """
            ) { row -> EndpointCondition? in
                guard let endpoint = try? row.endpoint() else { return nil }
                let network = try row.id(12, of: Network.self)
                let sealed = try row.decode(11, as: [UInt8].self)
                let isReadable = box.map { box in
                    let secrets = try? EndpointSecrets(opening: sealed, box, of: endpoint.id, in: network)
                    return secrets?.valid(at: now).isEmpty == false
                }
                return EndpointCondition(
                    network: network,
                    endpoint: endpoint,
                    isReadable: isReadable ?? true,
                    pause: try row.decode(13),
                    backlog: try row.decode(14)
                )
            }.compactMap(\.self)
        }
    }
}
