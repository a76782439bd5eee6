package import CarillonCore
import Foundation
package import Postgres

/// Networks and their credentials; secrets are sealed with the master key, of API keys only a hash is kept.
package struct PostgresAccountStore: AccountStore {
    let pool: PostgresPool
    let box: SecretBox
    let ids: UUIDv7Generator

    /// A store in the database of `pool`; `ids` orders secrets by their making.
    package init(pool: PostgresPool, box: SecretBox, ids: UUIDv7Generator) {
        self.pool = pool
        self.box = box
        self.ids = ids
    }

    /// Makes a network with its first keys; `false` when the id is taken.
    package func createNetwork(_ credentials: NetworkCredentials) async throws -> Bool {
        let network = credentials.network
        let secrets = try credentials.webhookSecrets.map { record in
            StoredSecret(
                id: ids.next(),
                sealed: try box.seal(record.secret, .incoming, in: network.id),
                expiresAt: record.expiresAt
            )
        }
        let tokenKeys = try credentials.userTokenKeys.map { try StoredTokenKey($0, box, ids.next(), in: network.id) }
        return try await pool.write { session in
            guard try session.insert(network) else { return false }
            // What a network of the same name left behind must not come back to life.
            try session.purgeAll(of: network.id)
            for secret in secrets { try session.insert(secret, .incoming, of: network.id) }
            for key in tokenKeys { try session.insert(key, of: network.id) }
            for key in credentials.apiKeys { try session.insert(key) }
            return true
        }
    }

    /// Removes a network and everything in it; `false` when there is none.
    ///
    /// The credentials go first, in one transaction; the rest follows in small ones. Should the process end in between,
    /// the ``Housekeeper`` finishes.
    package func deleteNetwork(_ id: NetworkID) async throws -> Bool {
        let isFound = try await pool.write { session in
            let deleted = try session.execute("DELETE FROM networks WHERE network_id = \(id.rawValue)")
            if deleted > 0 { try session.recordChange(of: nil, in: id) }
            return deleted > 0
        }
        guard isFound else { return false }
        try await pool.purge(id)
        return true
    }

    /// Who may call for a network, read at one moment; `nil` when there is none.
    package func credentials(of id: NetworkID) async throws -> NetworkCredentials? {
        let stored = try await pool.snapshot { session in
            (
                network: try session.network(id), secrets: try session.secrets(.incoming, of: id),
                tokenKeys: try session.tokenKeys(of: id), apiKeys: try session.apiKeys(of: id)
            )
        }
        guard let network = stored.network else { return nil }
        // What another master key sealed is left out: API keys, which are hashed, go on working.
        let secrets = stored.secrets.compactMap { secret in
            (try? box.open(secret.sealed, .incoming, in: id)).map {
                WebhookSecretRecord(secret: $0, expiresAt: secret.expiresAt)
            }
        }
        let tokenKeys = stored.tokenKeys.compactMap { try? $0.key(box, in: id) }
        var credentials = NetworkCredentials(
            network: network,
            webhookSecrets: secrets,
            userTokenKeys: tokenKeys,
            apiKeys: stored.apiKeys
        )
        credentials.hasUnreadableWebhookSecrets = secrets.count < stored.secrets.count
        credentials.hasUnreadableUserTokenKeys = tokenKeys.count < stored.tokenKeys.count
        return credentials
    }

    /// Replaces the keys that verify user tokens.
    package func setUserTokenKeys(_ keys: [UserTokenKey], of network: NetworkID) async throws {
        let stored = try keys.map { try StoredTokenKey($0, box, ids.next(), in: network) }
        try await pool.write { session in
            try session.lockNetwork(network)
            try session.execute("DELETE FROM user_token_keys WHERE network_id = \(network.rawValue)")
            for key in stored { try session.insert(key, of: network) }
        }
    }
}
