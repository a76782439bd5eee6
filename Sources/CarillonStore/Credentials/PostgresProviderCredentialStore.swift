package import CarillonCore
import Postgres

/// Credentials of push services in table `provider_credentials`, sealed.
package struct PostgresProviderCredentialStore: ProviderCredentialStore {
    private let databases: Placed<PlacementDatabase>

    package init(_ databases: Placed<PlacementDatabase>) {
        self.databases = databases
    }

    package func providerCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> ProviderCredential? {
        let database = try await databases.of(network)
        let stored = try await database.pool.queryFirst(
            """
            SELECT \(sql: StoredProviderCredential.columns) FROM provider_credentials
            WHERE network_id = \(network.rawValue) AND provider = \(provider.rawValue) AND app_id = \(appID)
            """
        ) { row in try StoredProviderCredential(row) }
        return try stored?.credential(database.box, in: network)
    }

    package func providerCredentials(of network: NetworkID) async throws -> [ProviderCredential] {
        let database = try await databases.of(network)
        let stored = try await database.pool.query(
            """
            SELECT \(sql: StoredProviderCredential.columns) FROM provider_credentials
            WHERE network_id = \(network.rawValue) ORDER BY provider, app_id
            """
        ) { row in try StoredProviderCredential(row) }
        let box = database.box
        return try stored.map { stored throws(UnreadableCredential) in try stored.credential(box, in: network) }
    }

    package func providersWithCredentials(
        of network: NetworkID
    ) async throws -> [(provider: ProviderName, appID: String)] {
        try await databases.of(network).pool.query(
            """
            SELECT provider, app_id FROM provider_credentials
            WHERE network_id = \(network.rawValue) ORDER BY provider, app_id
            """
        ) { row in (provider: try row.choice(0), appID: try row.decode(1)) }
    }

    package func putProviderCredential(
        _ credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> CredentialChange {
        let database = try await databases.toWrite(network)
        let stored = try StoredProviderCredential(credential, database.box, in: network)
        return try await database.pool.write { session in
            try session.lockNetwork(network)
            guard let former = try stored.former(in: network, session) else {
                try stored.insert(of: network, session)
                return .added
            }
            if let former = try? former.credential(database.box, in: network), former.isSame(as: credential) {
                return .unchanged(former)
            }
            try stored.update(in: network, session)
            return .replaced
        }
    }

    package func replaceProviderCredential(
        _ former: ProviderCredential,
        by credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> Bool {
        let database = try await databases.toWrite(network)
        let stored = try StoredProviderCredential(credential, database.box, in: network)
        return try await database.pool.write { session in
            let present = try stored.former(in: network, session)
            guard let present = try? present?.credential(database.box, in: network), present.isSame(as: former) else {
                return false
            }
            try stored.update(in: network, session)
            return true
        }
    }

    package func addProviderCredential(
        _ credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> ProviderCredential {
        let database = try await databases.toWrite(network)
        let stored = try StoredProviderCredential(credential, database.box, in: network)
        let present = try await database.pool.write { session in
            try session.lockNetwork(network)
            let present = try stored.former(in: network, session)
            if present == nil { try stored.insert(of: network, session) }
            return present
        }
        return try present?.credential(database.box, in: network) ?? credential
    }

    package func deleteProviderCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> Bool {
        try await databases.toWrite(network).pool.write(
            """
            DELETE FROM provider_credentials
            WHERE network_id = \(network.rawValue) AND provider = \(provider.rawValue) AND app_id = \(appID)
            """
        ) > 0
    }
}
