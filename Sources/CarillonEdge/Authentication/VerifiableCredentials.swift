package import CarillonCore
import HTTPTypes
import Logging

/// A network's credentials, made ready to verify with: keys parsed, API keys found by id.
package final class VerifiableCredentials: Sendable {
    package let network: Network
    /// Whether a signature that no secret verifies may be right all the same.
    let hasUnreadableWebhookSecrets: Bool
    /// Whether a user token that no key verifies may be right all the same.
    let hasUnreadableUserTokenKeys: Bool
    /// What the network says of other backends' webhooks.
    package let dialects: [DialectName: DialectDocument]
    private let webhookSecrets: [WebhookSecretRecord]
    private let apiKeys: [String: StoredAPIKey]
    private let verifiers: [TokenVerifier]

    /// Makes stored credentials ready; leaves out a key that cannot be read.
    init(_ credentials: NetworkCredentials, logger: Logger) {
        network = credentials.network
        hasUnreadableWebhookSecrets = credentials.hasUnreadableWebhookSecrets
        hasUnreadableUserTokenKeys = credentials.hasUnreadableUserTokenKeys
        webhookSecrets = credentials.webhookSecrets
        dialects = Dictionary(credentials.dialects.map { ($0.name, $0) }) { first, _ in first }
        apiKeys = Dictionary(credentials.apiKeys.map { ($0.key.id, $0) }) { first, _ in first }
        verifiers = credentials.userTokenKeys.compactMap { key in
            let verifier = TokenVerifier(key)
            if verifier == nil {
                logger.error(
                    "Stored user token key cannot be read",
                    metadata: ["network": "\(credentials.network.id)"]
                )
            }
            return verifier
        }
    }

    /// Passes a body that the network's chat backend has signed.
    func verify(_ signature: SignedBody, _ body: [UInt8], now: Timestamp) throws(Problem) {
        let valid = webhookSecrets.filter { $0.expiresAt.map { now < $0 } ?? true }
        try signature.verify(body, secrets: valid.map(\.secret), now: now)
    }

    /// Whether there is a key of this name, with whatever secret.
    func holds(_ key: APIKeySecret) -> Bool { apiKeys[key.id] != nil }

    /// What the holder of an API key may do; `nil` when it is not one of this network.
    func role(of key: APIKeySecret) -> APIKeyRole? {
        guard let stored = apiKeys[key.id], key.matches(stored) else { return nil }
        return stored.key.role
    }

    func verifies(_ token: UserToken) -> Bool {
        verifiers.contains { $0.verifies(token.signed) }
    }
}

/// Who may post events and notifications to a network, as its credentials were when they were read last: all that is asked about one
/// post is answered by the same.
package struct RememberedSenders {
    let credentials: VerifiableCredentials
    let now: Timestamp

    package var network: Network { credentials.network }

    /// Whether the network's chat backend has signed a body.
    package func haveSigned(_ body: [UInt8], _ signature: SignedBody) -> Bool {
        (try? credentials.verify(signature, body, now: now)) != nil
    }

    /// The holder of one of the network's API keys. Only for posts, whose senders' keys have no rate.
    package func access(_ authorization: String) -> Access? {
        guard let text = try? HTTPFields([HTTPField(name: .authorization, value: authorization)]).bearerToken(),
            let key = APIKeySecret(text), key.networkID == network.id, let role = credentials.role(of: key)
        else { return nil }
        return Access(network: network, principal: .apiKey(role), keyID: key.id)
    }

    /// What the network says of a dialect; `nil` when it says nothing.
    package func document(of dialect: DialectName) -> DialectDocument? { credentials.dialects[dialect] }
}
