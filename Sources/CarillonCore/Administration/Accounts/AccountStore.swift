package import struct Foundation.UUID

/// A secret that signs webhooks, valid until it ends.
package struct WebhookSecretRecord: Sendable, Equatable {
    package var secret: WebhookSecret
    /// When it stops being valid; `nil` for the current one.
    package var expiresAt: Timestamp?

    package init(secret: WebhookSecret, expiresAt: Timestamp? = nil) {
        self.secret = secret
        self.expiresAt = expiresAt
    }
}

/// Everything that is needed to tell who calls for a network, read at once.
package struct NetworkCredentials: Sendable {
    package var network: Network
    /// The secrets of incoming webhooks that have not ended.
    package var webhookSecrets: [WebhookSecretRecord]
    /// The keys of user tokens: any of them may verify one.
    package var userTokenKeys: [UserTokenKey]
    package var apiKeys: [StoredAPIKey]
    /// Whose webhooks the network takes, and what they prove themselves by.
    package var dialects: [DialectDocument]
    package var hasUnreadableWebhookSecrets = false
    package var hasUnreadableUserTokenKeys = false

    package init(
        network: Network,
        webhookSecrets: [WebhookSecretRecord],
        userTokenKeys: [UserTokenKey],
        apiKeys: [StoredAPIKey],
        dialects: [DialectDocument] = []
    ) {
        self.network = network
        self.webhookSecrets = webhookSecrets
        self.userTokenKeys = userTokenKeys
        self.apiKeys = apiKeys
        self.dialects = dialects
    }
}

package struct NetworkPage: Sendable {
    package var networks: [Network]
    /// The placements that did not answer, whose networks are missing.
    package var incomplete: [PlacementName]

    package init(_ networks: [Network], incomplete: [PlacementName] = []) {
        self.networks = networks
        self.incomplete = incomplete
    }
}

/// Networks, and who may call for them.
package protocol AccountStore: Sendable {
    /// Makes a network with its first admin key; refuses an id that is taken, or of which something of a former network is left.
    ///
    /// What is made as `answering` says is made once, however often that is asked for, also at the same time.
    /// - Throws: ``IdempotentRequest/Failure``.
    func createNetwork(_ credentials: NetworkCredentials, answering: IdempotentRequest?) async throws -> Creation
    /// Networks in the order of their ids.
    func networks(after: NetworkID?, limit: Int) async throws -> NetworkPage
    /// Removes a network and everything in it; `false` when there is none.
    func deleteNetwork(_ id: NetworkID) async throws -> Bool
    func network(_ id: NetworkID) async throws -> Network?
    /// Writes what `change` makes of a network, in one transaction that no other change can come between. Its id and when
    /// it was made stay as they are.
    ///
    /// - Returns: The network as it is now; `nil` when there is none.
    /// - Throws: What `change` throws; nothing is written then.
    func updateNetwork(
        _ id: NetworkID,
        _ change: @escaping @Sendable (Network) throws -> Network
    ) async throws -> Network?
    /// Who may call for a network; `nil` when there is none.
    func credentials(of id: NetworkID) async throws -> NetworkCredentials?
    func existingAPIKeys(_ names: Set<APIKeyName>) async throws -> Set<APIKeyName>
}

/// What callers of a network prove themselves by: API keys, which are hashed at rest, and keys that verify user tokens.
package protocol KeyStore: Sendable {
    /// Adds an API key, once as `answering` says; refuses one more than ``APIKey/maximumCount``.
    /// - Throws: ``IdempotentRequest/Failure``.
    func addAPIKey(_ key: StoredAPIKey, answering: IdempotentRequest?) async throws -> Creation
    /// The network's keys in the order of their ids.
    func apiKeys(of network: NetworkID, after: String?, limit: Int) async throws -> [APIKey]
    /// Removes a key; the last one of role `admin` only by `force`, whatever else is removed at the same time.
    func deleteAPIKey(_ id: String, of network: NetworkID, force: Bool) async throws -> APIKeyRemoval
    func setUserTokenKeys(_ keys: [StoredUserTokenKey], of network: NetworkID) async throws
    /// The keys that verify user tokens, the oldest first.
    func userTokenKeys(of network: NetworkID) async throws -> [StoredUserTokenKey]
    /// Adds a key that verifies user tokens, once as `answering` says; refuses one more than
    /// ``StoredUserTokenKey/maximumCount``.
    /// - Throws: ``IdempotentRequest/Failure``.
    func addUserTokenKey(
        _ key: StoredUserTokenKey,
        of network: NetworkID,
        answering: IdempotentRequest?
    ) async throws -> Creation
    /// Removes a key that verifies user tokens; `false` when there is none of this id.
    func deleteUserTokenKey(_ id: UUID, of network: NetworkID) async throws -> Bool
}

/// The secrets that sign a network's webhooks; they are encrypted at rest.
package protocol WebhookSecretStore: Sendable {
    /// Makes `secret` the newest of a direction, once as `answering` says; the former ones end after `overlap`, and the oldest at once when
    /// there are more than ``WebhookSignature/maximumSecretCount``, or ``WebhookSignature/maximumSignedSecretCount``.
    /// - Throws: ``IdempotentRequest/Failure``.
    func rotateWebhookSecret(
        _ direction: WebhookDirection,
        of network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration,
        answering: IdempotentRequest?
    ) async throws -> Creation
    /// The secrets that sign outgoing webhooks, the newest first; made on first use by storing `candidate`.
    func outgoingWebhookSecrets(of network: NetworkID, candidate: WebhookSecret) async throws -> [WebhookSecret]
}

/// All that is kept of networks themselves.
package typealias NetworkStore = AccountStore & DialectStore & KeyStore & WebhookSecretStore

/// Which way webhooks go.
package enum WebhookDirection: String, Sendable {
    case incoming, outgoing
}
