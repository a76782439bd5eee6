package import CarillonCore
package import Foundation
import Postgres

/// What networks are called with, in one placement or in all: keys and secrets, and what dialects ask for.
package protocol AccountSecrets: DialectStore, KeyStore, WebhookSecretStore {
    var accounts: Placed<PostgresAccountStore> { get }
}

extension AccountSecrets {
    package func setUserTokenKeys(_ keys: [StoredUserTokenKey], of network: NetworkID) async throws {
        let store = try await accounts.toWrite(network)
        let stored = try keys.map { try StoredTokenKey($0.key, store.box, $0.id, in: network) }
        try await store.pool.write { session in
            try session.lockNetwork(network)
            try session.execute("DELETE FROM user_token_keys WHERE network_id = \(network.rawValue)")
            for key in stored { try key.insert(of: network, session) }
        }
    }

    package func userTokenKeys(of network: NetworkID) async throws -> [StoredUserTokenKey] {
        let store = try await accounts.of(network)
        let stored = try await store.pool.withConnection { session in try session.tokenKeys(of: network) }
        return try stored.map { try $0.key(store.box, in: network) }
    }

    package func addUserTokenKey(
        _ key: StoredUserTokenKey,
        of network: NetworkID,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let store = try await accounts.toWrite(network)
        let stored = try StoredTokenKey(key.key, store.box, key.id, in: network)
        return try await store.once(request) { session in
            try session.lockNetwork(network)
            let count = try session.tokenKeys(of: network).count
            guard count < StoredUserTokenKey.maximumCount else { return false }
            try stored.insert(of: network, session)
            return true
        }
    }

    package func deleteUserTokenKey(_ id: UUID, of network: NetworkID) async throws -> Bool {
        try await accounts.toWrite(network).pool.write(
            "DELETE FROM user_token_keys WHERE network_id = \(network.rawValue) AND key_id = \(id)"
        ) > 0
    }

    package func addAPIKey(_ key: StoredAPIKey, answering request: IdempotentRequest?) async throws -> Creation {
        let network = key.key.networkID
        return try await accounts.toWrite(network).once(request) { session in
            try session.lockNetwork(network)
            let count = try session.execute(
                "SELECT FROM api_keys WHERE network_id = \(network.rawValue) LIMIT \(APIKey.maximumCount)"
            )
            guard count < APIKey.maximumCount else { return false }
            try session.insert(key)
            return true
        }
    }

    package func apiKeys(of network: NetworkID, after: String?, limit: Int) async throws -> [APIKey] {
        try await accounts.of(network).pool.query(
            """
            SELECT key_id, network_id, role, label, created_at FROM api_keys
            WHERE network_id = \(network.rawValue) AND key_id > \(after ?? "") ORDER BY key_id LIMIT \(limit)
            """
        ) { row in try row.apiKey() }
    }

    /// Removes a key; the last one of role `admin` only by `force`. Removals in one network wait for each other.
    package func deleteAPIKey(_ id: String, of network: NetworkID, force: Bool) async throws -> APIKeyRemoval {
        try await accounts.toWrite(network).pool.write { session in
            _ = try session.holdNetwork(network)
            let role = try session.first(
                "SELECT role FROM api_keys WHERE network_id = \(network.rawValue) AND key_id = \(id)",
                as: String.self
            )
            guard let role else { return .unknown }
            if !force, role == APIKeyRole.admin.rawValue {
                let others = try session.execute(
                    """
                    SELECT FROM api_keys
                    WHERE network_id = \(network.rawValue) AND key_id <> \(id) AND role = \(role) LIMIT 1
                    """
                )
                guard others > 0 else { return .lastAdmin }
            }
            try session.execute("DELETE FROM api_keys WHERE network_id = \(network.rawValue) AND key_id = \(id)")
            return .removed
        }
    }
}

extension PostgresAccountStore {
    package func existingAPIKeys(_ names: Set<APIKeyName>) async throws -> Set<APIKeyName> {
        let names = Array(names)
        let existing = try await pool.query(
            """
            SELECT k.network_id, k.key_id
            FROM unnest(\(names.map(\.networkID.rawValue)), \(names.map(\.id))) AS n (network_id, key_id)
            JOIN api_keys k ON k.network_id = n.network_id AND k.key_id = n.key_id
            """
        ) { row in APIKeyName(networkID: try row.id(0), id: try row.decode(1)) }
        return Set(existing)
    }
}

extension PostgresSession {
    func insert(_ key: StoredAPIKey) throws {
        try execute(
            """
            INSERT INTO api_keys (network_id, key_id, role, label, secret_hash, created_at)
            VALUES (\(key.key.networkID.rawValue), \(key.key.id), \(key.key.role.rawValue), \(key.key.label as String?),
                    \(key.secretHash.bytes), \(key.key.createdAt.stored))
            """
        )
    }

    func apiKeys(of network: NetworkID) throws -> [StoredAPIKey] {
        try query(
            """
            SELECT key_id, network_id, role, label, created_at, secret_hash FROM api_keys
            WHERE network_id = \(network.rawValue) ORDER BY key_id
            """
        ) { row in StoredAPIKey(key: try row.apiKey(), secretHash: SecretHash(bytes: try row.decode(5))) }
    }
}

extension Row {
    fileprivate func apiKey() throws -> APIKey {
        APIKey(
            id: try decode(0),
            networkID: try id(1),
            role: try choice(2),
            label: try decode(3),
            createdAt: try timestamp(4)
        )
    }
}
