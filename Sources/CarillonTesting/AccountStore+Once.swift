package import CarillonCore

/// What tests ask for once, as callers without an `Idempotency-Key` do.
extension AccountStore {
    /// Makes a network; `false` when the id is taken.
    package func createNetwork(_ credentials: NetworkCredentials) async throws -> Bool {
        try await createNetwork(credentials, answering: nil) == .created
    }

    /// Makes a network that nobody has a key of; `false` when the id is taken.
    @discardableResult
    package func createNetwork(_ network: Network) async throws -> Bool {
        try await createNetwork(
            NetworkCredentials(network: network, webhookSecrets: [], userTokenKeys: [], apiKeys: [])
        )
    }
}

extension KeyStore {
    package func addAPIKey(_ key: StoredAPIKey) async throws { _ = try await addAPIKey(key, answering: nil) }
}

extension WebhookSecretStore {
    /// Adds a secret that verifies incoming events.
    package func rotateWebhookSecret(of network: NetworkID, to secret: WebhookSecret, overlap: Duration) async throws {
        _ = try await rotateWebhookSecret(.incoming, of: network, to: secret, overlap: overlap, answering: nil)
    }

    /// Adds a secret that signs outgoing webhooks.
    package func rotateOutgoingWebhookSecret(
        of network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration
    ) async throws {
        _ = try await rotateWebhookSecret(.outgoing, of: network, to: secret, overlap: overlap, answering: nil)
    }
}
