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
}
