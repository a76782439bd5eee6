package import CarillonCore

extension MemoryStore: AccountStore {
    /// Makes a network with its first admin key; `false` when the id is taken.
    package func createNetwork(_ credentials: NetworkCredentials) async throws -> Bool {
        try withState { state in
            let id = credentials.network.id
            guard state.networks[id] == nil else { return false }
            var network = MemoryNetwork(network: credentials.network)
            network.webhookSecrets = credentials.webhookSecrets
            network.userTokenKeys = credentials.userTokenKeys
            for key in credentials.apiKeys { network.apiKeys[key.key.id] = key }
            state.networks[id] = network
            return true
        }
    }

    /// Networks in the order of their ids.
    package func networks(after: NetworkID?, limit: Int) async throws -> [Network] {
        try withState { state in
            let rest = state.sortedIDs.filter { id in after.map { $0 < id } ?? true }
            return rest.prefix(limit).compactMap { state.networks[$0]?.network }
        }
    }

    /// Removes a network and everything in it; `false` when there is none.
    package func deleteNetwork(_ id: NetworkID) async throws -> Bool {
        try withState { state in state.networks.removeValue(forKey: id) != nil }
    }

    /// A network; `nil` when there is none.
    package func network(_ id: NetworkID) async throws -> Network? {
        try withState { state in state.networks[id]?.network }
    }

    /// Writes what `change` makes of a network; answers the network as it is now, or `nil` when there is none.
    package func updateNetwork(
        _ id: NetworkID,
        _ change: @escaping @Sendable (Network) throws -> Network
    ) async throws -> Network? {
        try withState { state in
            guard let network = state.networks[id]?.network else { return nil }
            let changed = try change(network)
            state.networks[id]?.network = changed
            return changed
        }
    }

    /// Who may call for a network; `nil` when there is none.
    package func credentials(of id: NetworkID) async throws -> NetworkCredentials? {
        let now = clock.now()
        return try withState { state in
            state.credentialReadings += 1
            guard let network = state.networks[id] else { return nil }
            return NetworkCredentials(
                network: network.network,
                webhookSecrets: network.webhookSecrets.filter { $0.isValid(at: now) },
                userTokenKeys: network.userTokenKeys,
                apiKeys: network.apiKeys.values.sorted { $0.key.id < $1.key.id }
            )
        }
    }

    /// Which of these API keys there are.
    package func existingAPIKeys(_ names: Set<APIKeyName>) async throws -> Set<APIKeyName> {
        try withState { state in
            state.keyLookups += 1
            return names.filter { state.networks[$0.networkID]?.apiKeys[$0.id] != nil }
        }
    }

    /// Adds an API key.
    package func addAPIKey(_ key: StoredAPIKey) async throws {
        try withNetwork(key.key.networkID) { $0.apiKeys[key.key.id] = key }
    }

    /// The network's keys in the order of their ids.
    package func apiKeys(of network: NetworkID, after: String?, limit: Int) async throws -> [APIKey] {
        try withNetwork(network) { network in
            let rest = network.apiKeys.values.map(\.key).filter { key in after.map { $0 < key.id } ?? true }
            return Array(rest.sorted { $0.id < $1.id }.prefix(limit))
        }
    }

    /// Removes a key; `false` when there is none.
    package func deleteAPIKey(_ id: String, of network: NetworkID) async throws -> Bool {
        try withNetwork(network) { $0.apiKeys.removeValue(forKey: id) != nil }
    }

    /// Adds a secret; the former ones end after `overlap`.
    package func rotateWebhookSecret(
        of network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration
    ) async throws {
        let now = clock.now()
        try withNetwork(network) { $0.webhookSecrets.rotate(to: secret, overlap: overlap, now: now) }
    }

    /// Replaces the keys that verify user tokens.
    package func setUserTokenKeys(_ keys: [UserTokenKey], of network: NetworkID) async throws {
        try withNetwork(network) { $0.userTokenKeys = keys }
    }

    /// The secrets that sign outgoing webhooks, the newest first; made on first use by storing `candidate`.
    package func outgoingWebhookSecrets(
        of network: NetworkID,
        candidate: WebhookSecret
    ) async throws -> [WebhookSecret] {
        let now = clock.now()
        return try withNetwork(network) { network in
            if network.outgoingSecrets.isEmpty {
                network.outgoingSecrets = [WebhookSecretRecord(secret: candidate)]
            }
            return network.outgoingSecrets.filter { $0.isValid(at: now) }.map(\.secret)
        }
    }

    /// Makes `secret` the newest of the secrets that sign outgoing webhooks; the former one signs too for `overlap`.
    package func rotateOutgoingWebhookSecret(
        of network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration
    ) async throws {
        let now = clock.now()
        try withNetwork(network) { $0.outgoingSecrets.rotate(to: secret, overlap: overlap, now: now) }
    }
}

extension WebhookSecretRecord {
    fileprivate func isValid(at now: Timestamp) -> Bool { expiresAt.map { now < $0 } ?? true }
}

extension [WebhookSecretRecord] {
    /// Puts a secret first; the former ones end after the overlap, unless they end sooner.
    fileprivate mutating func rotate(to secret: WebhookSecret, overlap: Duration, now: Timestamp) {
        let end = now + overlap
        for index in indices { self[index].expiresAt = Swift.min(self[index].expiresAt ?? end, end) }
        insert(WebhookSecretRecord(secret: secret), at: 0)
    }
}
