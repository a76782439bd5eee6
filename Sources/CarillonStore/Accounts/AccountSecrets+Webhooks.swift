package import CarillonCore
import Foundation
import Postgres

extension AccountSecrets {
    package func rotateWebhookSecret(
        _ direction: WebhookDirection,
        of network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let store = try await accounts.toWrite(network)
        let stored = StoredSecret(id: store.ids.next(), sealed: try store.box.seal(secret, direction, in: network))
        let overlap = max(.zero, overlap).wholeMilliseconds
        return try await store.once(request) { session in
            try session.lockNetwork(network)
            try session.execute(
                """
                DELETE FROM webhook_secrets
                WHERE network_id = \(network.rawValue) AND direction = \(direction.rawValue) AND expires_at <= now()
                """
            )
            try session.execute(
                """
                UPDATE webhook_secrets
                SET expires_at = least(expires_at, now() + \(overlap) * interval '1 millisecond')
                WHERE network_id = \(network.rawValue) AND direction = \(direction.rawValue)
                """
            )
            // What goes first has waited longest for its end.
            try session.execute(
                """
                DELETE FROM webhook_secrets
                WHERE network_id = \(network.rawValue) AND secret_id IN (
                    SELECT secret_id FROM webhook_secrets
                    WHERE network_id = \(network.rawValue) AND direction = \(direction.rawValue)
                    ORDER BY secret_id DESC OFFSET \(direction.maximumSecretCount - 1))
                """
            )
            try session.insert(stored, direction, of: network)
            return true
        }
    }

    /// Of several first uses at once one wins, and all answer its secret.
    package func outgoingWebhookSecrets(
        of network: NetworkID,
        candidate: WebhookSecret
    ) async throws -> [WebhookSecret] {
        let store = try await accounts.of(network)
        let known = try await store.pool.withConnection { session in try session.secrets(.outgoing, of: network) }
        guard known.isEmpty else { return try store.open(known, in: network) }
        let first = StoredSecret(id: store.ids.next(), sealed: try store.box.seal(candidate, .outgoing, in: network))
        let stored = try await store.pool.write { session in
            try session.lockNetwork(network)
            let others = try session.secrets(.outgoing, of: network)
            guard others.isEmpty else { return others }
            try session.insert(first, .outgoing, of: network)
            return [first]
        }
        return try store.open(stored, in: network)
    }
}

extension PostgresAccountStore {
    fileprivate func open(_ secrets: [StoredSecret], in network: NetworkID) throws -> [WebhookSecret] {
        try secrets.map { try box.open($0.sealed, .outgoing, in: network) }
    }
}

extension WebhookDirection {
    /// How many secrets there are at most, the current one and those on their way out.
    fileprivate var maximumSecretCount: Int {
        switch self {
        case .incoming: WebhookSignature.maximumSecretCount
        case .outgoing: WebhookSignature.maximumSignedSecretCount
        }
    }

    fileprivate var purpose: SecretBox.Purpose {
        switch self {
        case .incoming: .incomingWebhook
        case .outgoing: .outgoingWebhook
        }
    }
}

/// A row of `webhook_secrets`.
struct StoredSecret: Sendable {
    var id: UUID
    var sealed: [UInt8]
    var expiresAt: Timestamp?
}

struct StoredTokenKey: Sendable {
    private var id: UUID
    private var algorithm: String
    private var material: [UInt8]

    init(_ key: UserTokenKey, _ box: SecretBox, _ id: UUID, in network: NetworkID) throws {
        self.id = id
        switch key {
        case .hs256(let secret):
            algorithm = "HS256"
            material = try secret.reveal { try box.seal(Array($0.utf8), for: .userToken, in: network) }
        case .es256(let publicKey):
            algorithm = "ES256"
            material = Array(publicKey.utf8)
        case .rs256(let publicKey):
            algorithm = "RS256"
            material = Array(publicKey.utf8)
        }
    }

    fileprivate init(_ row: borrowing Row) throws {
        id = try row.decode(0)
        algorithm = try row.decode(1)
        material = try row.decode(2)
    }

    func key(_ box: SecretBox, in network: NetworkID) throws(StoreError) -> StoredUserTokenKey {
        let key: UserTokenKey
        switch algorithm {
        case "HS256":
            let secret = try box.open(material, for: .userToken, in: network)
            key = .hs256(Secret(String(decoding: secret, as: UTF8.self)))
        case "ES256": key = .es256(publicKey: String(decoding: material, as: UTF8.self))
        case "RS256": key = .rs256(publicKey: String(decoding: material, as: UTF8.self))
        default: throw .unreadable("key of user tokens")
        }
        return StoredUserTokenKey(id: id, key: key)
    }

    func insert(of network: NetworkID, _ session: borrowing PostgresSession) throws {
        try session.execute(
            """
            INSERT INTO user_token_keys (network_id, key_id, algorithm, material)
            VALUES (\(network.rawValue), \(id), \(algorithm), \(material))
            """
        )
    }
}

extension SecretBox {
    func seal(_ secret: WebhookSecret, _ direction: WebhookDirection, in network: NetworkID) throws -> [UInt8] {
        try secret.text.reveal { try seal(Array($0.utf8), for: direction.purpose, in: network) }
    }

    func open(
        _ sealed: [UInt8],
        _ direction: WebhookDirection,
        in network: NetworkID
    ) throws(StoreError) -> WebhookSecret {
        let text = String(decoding: try open(sealed, for: direction.purpose, in: network), as: UTF8.self)
        guard let secret = WebhookSecret(text) else { throw .unreadable("webhook secret") }
        return secret
    }
}

extension PostgresSession {
    /// Lets changes to a network, and to its credentials, wait for each other; `false` when there is none.
    func holdNetwork(_ network: NetworkID) throws -> Bool {
        try execute("SELECT FROM networks WHERE network_id = \(network.rawValue) FOR NO KEY UPDATE") == 1
    }

    /// The same where there has to be one.
    func lockNetwork(_ network: NetworkID) throws {
        guard try holdNetwork(network) else { throw try absence(of: network) }
    }

    /// The secrets that have not ended, the newest first.
    func secrets(_ direction: WebhookDirection, of network: NetworkID) throws -> [StoredSecret] {
        try query(
            """
            SELECT secret_id, sealed, expires_at FROM webhook_secrets
            WHERE network_id = \(network.rawValue) AND direction = \(direction.rawValue)
                AND (expires_at IS NULL OR expires_at > now())
            ORDER BY secret_id DESC
            """
        ) { row in
            StoredSecret(
                id: try row.decode(0),
                sealed: try row.decode(1),
                expiresAt: try row.timestampIfAny(2)
            )
        }
    }

    func insert(_ secret: StoredSecret, _ direction: WebhookDirection, of network: NetworkID) throws {
        try execute(
            """
            INSERT INTO webhook_secrets (network_id, secret_id, direction, sealed, expires_at)
            VALUES (\(network.rawValue), \(secret.id), \(direction.rawValue), \(secret.sealed),
                    \(secret.expiresAt?.stored as PostgresTimestamp?))
            """
        )
    }

    func tokenKeys(of network: NetworkID) throws -> [StoredTokenKey] {
        try query(
            """
            SELECT key_id, algorithm, material FROM user_token_keys
            WHERE network_id = \(network.rawValue) ORDER BY key_id
            """
        ) { row in try StoredTokenKey(row) }
    }
}
