package import CarillonCore
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

    func webhookSecrets(at now: Timestamp) -> [WebhookSecret] {
        webhookSecrets.filter { $0.expiresAt.map { now < $0 } ?? true }.map(\.secret)
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
