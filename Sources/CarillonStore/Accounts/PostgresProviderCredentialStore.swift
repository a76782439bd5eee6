package import CarillonCore
import Crypto
package import Postgres

/// Credentials of push services in table `provider_credentials`, tokens in `provider_tokens`; both sealed.
package struct PostgresProviderCredentialStore: ProviderCredentialStore, ProviderTokenStore {
    private let pool: PostgresPool
    private let box: SecretBox

    package init(pool: PostgresPool, box: SecretBox) {
        self.pool = pool
        self.box = box
    }

    package func providerCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> ProviderCredential? {
        let stored = try await pool.withConnection { session in
            try session.queryFirst(
                """
                SELECT \(sql: StoredProviderCredential.columns) FROM provider_credentials
                WHERE network_id = \(network.rawValue) AND provider = \(provider.rawValue) AND app_id = \(appID)
                """
            ) { row in try StoredProviderCredential(row) }
        }
        return try stored?.credential(box, in: network)
    }

    package func providerCredentials(of network: NetworkID) async throws -> [ProviderCredential] {
        let stored = try await pool.withConnection { session in
            try session.query(
                """
                SELECT \(sql: StoredProviderCredential.columns) FROM provider_credentials
                WHERE network_id = \(network.rawValue) ORDER BY provider, app_id
                """
            ) { row in try StoredProviderCredential(row) }
        }
        return try stored.map { stored throws(UnreadableCredential) in try stored.credential(box, in: network) }
    }

    package func providersWithCredentials(
        of network: NetworkID
    ) async throws -> [(provider: ProviderName, appID: String)] {
        try await pool.withConnection { session in
            try session.query(
                """
                SELECT provider, app_id FROM provider_credentials
                WHERE network_id = \(network.rawValue) ORDER BY provider, app_id
                """
            ) { row in (provider: try row.choice(0), appID: try row.decode(1)) }
        }
    }

    package func putProviderCredential(
        _ credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> CredentialChange {
        let stored = try StoredProviderCredential(credential, box, in: network)
        return try await pool.write { session in
            try session.lockNetwork(network)
            guard let former = try stored.former(in: network, session) else {
                try stored.insert(of: network, session)
                return .added
            }
            if let former = try? former.credential(box, in: network), former.isSame(as: credential) {
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
        let stored = try StoredProviderCredential(credential, box, in: network)
        return try await pool.write { session in
            let present = try stored.former(in: network, session)
            guard let present = try? present?.credential(box, in: network), present.isSame(as: former) else {
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
        let stored = try StoredProviderCredential(credential, box, in: network)
        let present = try await pool.write { session in
            try session.lockNetwork(network)
            let present = try stored.former(in: network, session)
            if present == nil { try stored.insert(of: network, session) }
            return present
        }
        return try present?.credential(box, in: network) ?? credential
    }

    package func deleteProviderCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> Bool {
        try await pool.write { session in
            try session.execute(
                """
                DELETE FROM provider_credentials
                WHERE network_id = \(network.rawValue) AND provider = \(provider.rawValue) AND app_id = \(appID)
                """
            ) > 0
        }
    }

    package func providerToken(
        _ key: String,
        candidate: ProviderToken,
        ifOlderThan oldest: Timestamp
    ) async throws -> ProviderToken {
        let hash = Array(SHA256.hash(data: Array(key.utf8)))
        let sealed = try box.seal(Array(candidate.value.utf8), for: .providerToken, in: nil)
        let latest = candidate.issuedAt + ProviderToken.leeway
        let kept = try await pool.write { session in
            try session.queryFirst(
                """
                INSERT INTO provider_tokens AS t (key_hash, sealed, issued_at)
                VALUES (\(hash), \(sealed), \(candidate.issuedAt.stored))
                ON CONFLICT (key_hash) DO UPDATE
                SET sealed = CASE WHEN t.issued_at BETWEEN \(oldest.stored) AND \(latest.stored)
                                  THEN t.sealed ELSE EXCLUDED.sealed END,
                    issued_at = CASE WHEN t.issued_at BETWEEN \(oldest.stored) AND \(latest.stored)
                                     THEN t.issued_at ELSE EXCLUDED.issued_at END
                RETURNING sealed, issued_at
                """
            ) { row in (sealed: try row.decode(0, as: [UInt8].self), issuedAt: try row.timestamp(1)) }
        }
        guard let kept, let value = try? box.open(kept.sealed, for: .providerToken, in: nil) else {
            // Sealed with another master key, or not there: the one in hand is as good.
            return candidate
        }
        return ProviderToken(value: String(decoding: value, as: UTF8.self), issuedAt: kept.issuedAt)
    }
}

extension SecretBox.Purpose {
    /// A token that was made from a key.
    fileprivate static let providerToken = Self(rawValue: "provider-token")
}
