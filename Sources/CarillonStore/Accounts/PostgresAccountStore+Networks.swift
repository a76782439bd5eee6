package import CarillonCore
import Postgres

extension PostgresAccountStore {
    package func networks(after: NetworkID?, limit: Int) async throws -> NetworkPage {
        let networks = try await pool.query(
            """
            SELECT \(sql: Row.networkColumns) FROM networks
            WHERE network_id > \(after?.rawValue ?? "") AND \(sql: .isHere) ORDER BY network_id LIMIT \(limit)
            """
        ) { row in try row.network() }
        return NetworkPage(networks)
    }

    package func network(_ id: NetworkID) async throws -> Network? {
        try await pool.withConnection { session in try session.network(id) }
    }

    package func updateNetwork(
        _ id: NetworkID,
        _ change: @escaping @Sendable (Network) throws -> Network
    ) async throws -> Network? {
        try await pool.write { session in
            guard try session.holdNetwork(id), let current = try session.network(id) else { return nil }
            let changed = try change(current)
            try session.execute(
                """
                UPDATE networks
                SET display_name = \(changed.displayName as String?), default_locale = \(changed.defaultLocale as String?),
                    device_registration = \(changed.deviceRegistration.rawValue),
                    web_push_hosts = \(changed.webPushHosts.stored as String?), limits = \(changed.limits.stored as String?),
                    user_token_max_lifetime = \(changed.storedTokenLifetime as Int64?),
                    introspection = \(changed.introspection?.json.serializedText as String?)
                WHERE network_id = \(id.rawValue)
                """
            )
            return changed
        }
    }
}

extension PostgresSession {
    func network(_ id: NetworkID) throws -> Network? {
        try queryFirst(
            "SELECT \(sql: Row.networkColumns) FROM networks WHERE network_id = \(id.rawValue) AND \(sql: .isHere)"
        ) { row in try row.network() }
    }

    /// Adds a network; `false` when the id is taken.
    func insert(_ network: Network) throws -> Bool {
        try execute(
            """
            INSERT INTO networks (network_id, display_name, default_locale, device_registration, web_push_hosts, limits,
                                  user_token_max_lifetime, introspection, created_at)
            VALUES (\(network.id.rawValue), \(network.displayName as String?), \(network.defaultLocale as String?),
                    \(network.deviceRegistration.rawValue), \(network.webPushHosts.stored as String?),
                    \(network.limits.stored as String?), \(network.storedTokenLifetime as Int64?),
                    \(network.introspection?.json.serializedText as String?), \(network.createdAt.stored))
            ON CONFLICT (network_id) DO NOTHING
            """
        ) == 1
    }
}

extension Row {
    fileprivate static var networkColumns: SQL {
        """
        network_id, display_name, default_locale, device_registration, web_push_hosts, limits, created_at,
        user_token_max_lifetime, introspection
        """
    }

    fileprivate func network() throws -> Network {
        Network(
            id: try id(0),
            displayName: try decode(1),
            defaultLocale: try decode(2),
            deviceRegistration: try choice(3),
            webPushHosts: try WebPushHosts(stored: decode(4)),
            userTokenMaxLifetime: try decode(7, as: Int64?.self).map { Duration.seconds($0) }
                ?? Network.defaultUserTokenMaxLifetime,
            introspection: try UserTokenIntrospection(stored: decode(8)),
            limits: try NetworkLimits(stored: decode(5)),
            createdAt: try timestamp(6)
        )
    }
}

extension Network {
    /// What column `user_token_max_lifetime` holds.
    fileprivate var storedTokenLifetime: Int64? {
        userTokenMaxLifetime == Self.defaultUserTokenMaxLifetime ? nil : userTokenMaxLifetime.components.seconds
    }
}

extension UserTokenIntrospection {
    fileprivate init?(stored text: String?) throws {
        guard let text else { return nil }
        guard let value = try? JSONValue(parsing: text) else { throw StoreError.unreadable("introspection") }
        var reader = JSONObjectReader(value, unknown: .tolerate, into: InputErrors())
        guard let introspection = Self(&reader) else { throw StoreError.unreadable("introspection") }
        self = introspection
    }
}

extension WebPushHosts {
    /// What column `web_push_hosts` holds.
    fileprivate var stored: String? {
        self == Self() ? nil : JSONValue.array(patterns.map { .string($0) }).serializedText
    }

    fileprivate init(stored text: String?) throws {
        guard let text else {
            self.init()
            return
        }
        guard case .array(let elements)? = try? JSONValue(parsing: text) else {
            throw StoreError.unreadable("list of hosts")
        }
        self.init(elements.compactMap(\.text))
    }
}

extension NetworkLimits {
    /// What column `limits` holds.
    fileprivate var stored: String? { changes?.serializedText }

    fileprivate init(stored text: String?) throws {
        self.init()
        guard let text else { return }
        guard let value = try? JSONValue(parsing: text) else { throw StoreError.unreadable("set of limits") }
        let errors = InputErrors()
        // A limit that only a newer release knows is passed over.
        var reader = JSONObjectReader(value, unknown: .tolerate, into: errors)
        merge(&reader)
        guard errors.isEmpty else { throw StoreError.unreadable("set of limits") }
    }
}
