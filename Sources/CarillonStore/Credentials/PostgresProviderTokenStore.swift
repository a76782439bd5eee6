package import CarillonCore
import Crypto
package import Postgres

/// Tokens that replicas share, in table `provider_tokens`, sealed.
package struct PostgresProviderTokenStore: ProviderTokenStore {
    private let pool: PostgresPool
    private let box: SecretBox

    package init(pool: PostgresPool, box: SecretBox) {
        self.pool = pool
        self.box = box
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
