package import CarillonCore
package import struct Foundation.UUID

extension MemoryStore: AccountStore {
    /// Makes a network with its first admin key, once as `answering` says; refuses an id that is taken.
    package func createNetwork(
        _ credentials: NetworkCredentials,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let keys = credentials.userTokenKeys.map { StoredUserTokenKey(id: ids.next(), key: $0) }
        let isBeingDeleted = try withState { state in
            state.networks[credentials.network.id] == nil && state.leftovers.contains(credentials.network.id)
        }
        if isBeingDeleted { return .beingDeleted }
        return try once(request) { state in
            let id = credentials.network.id
            guard state.networks[id] == nil else { return false }
            var network = MemoryNetwork(network: credentials.network)
            network.webhookSecrets = credentials.webhookSecrets
            network.userTokenKeys = keys
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
        try withState { state in
            state.requests[id] = nil
            state.faceChanges += 1
            return state.networks.removeValue(forKey: id) != nil
        }
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
                userTokenKeys: network.userTokenKeys.map(\.key),
                apiKeys: network.apiKeys.values.sorted { $0.key.id < $1.key.id },
                dialects: network.dialects.values.sorted { $0.name.rawValue < $1.name.rawValue }
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

    /// Adds an API key, once as `answering` says; refuses one too many.
    package func addAPIKey(_ key: StoredAPIKey, answering request: IdempotentRequest?) async throws -> Creation {
        try once(request, in: key.key.networkID) { network in
            guard network.apiKeys.count < APIKey.maximumCount else { return false }
            network.apiKeys[key.key.id] = key
            return true
        }
    }

    /// The network's keys in the order of their ids.
    package func apiKeys(of network: NetworkID, after: String?, limit: Int) async throws -> [APIKey] {
        try withNetwork(network) { network in
            let rest = network.apiKeys.values.map(\.key).filter { key in after.map { $0 < key.id } ?? true }
            return Array(rest.sorted { $0.id < $1.id }.prefix(limit))
        }
    }

    /// Removes a key; the last one of role `admin` only by `force`.
    package func deleteAPIKey(_ id: String, of network: NetworkID, force: Bool) async throws -> APIKeyRemoval {
        try withNetwork(network) { network in
            guard let key = network.apiKeys[id]?.key else { return .unknown }
            let admins = network.apiKeys.values.filter { $0.key.role == .admin }
            guard force || key.role != .admin || admins.count > 1 else { return .lastAdmin }
            network.apiKeys[id] = nil
            return .removed
        }
    }

    /// Adds a secret, once as `answering` says; the former ones end after `overlap`, the oldest at once when there are too many.
    package func rotateWebhookSecret(
        of network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let now = clock.now()
        return try once(request, in: network) { network in
            let count = WebhookSignature.maximumSecretCount
            network.webhookSecrets.rotate(to: secret, overlap: overlap, now: now, keeping: count)
            return true
        }
    }

    /// Replaces the keys that verify user tokens.
    package func setUserTokenKeys(_ keys: [StoredUserTokenKey], of network: NetworkID) async throws {
        try withNetwork(network) { $0.userTokenKeys = keys }
    }

    /// The keys that verify user tokens, the oldest first.
    package func userTokenKeys(of network: NetworkID) async throws -> [StoredUserTokenKey] {
        try withNetwork(network) { $0.userTokenKeys }
    }

    /// Adds a key that verifies user tokens, once as `answering` says; refuses one too many.
    package func addUserTokenKey(
        _ key: StoredUserTokenKey,
        of network: NetworkID,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        try once(request, in: network) { network in
            guard network.userTokenKeys.count < StoredUserTokenKey.maximumCount else { return false }
            network.userTokenKeys.append(key)
            return true
        }
    }

    /// Removes a key that verifies user tokens; `false` when there is none of this id.
    package func deleteUserTokenKey(_ id: UUID, of network: NetworkID) async throws -> Bool {
        try withNetwork(network) { network in
            let count = network.userTokenKeys.count
            network.userTokenKeys.removeAll { $0.id == id }
            return network.userTokenKeys.count < count
        }
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

    /// Makes `secret` the newest of the secrets that sign outgoing webhooks, once as `answering` says; the former ones sign
    /// too for `overlap`, the oldest no more when there are too many.
    package func rotateOutgoingWebhookSecret(
        of network: NetworkID,
        to secret: WebhookSecret,
        overlap: Duration,
        answering request: IdempotentRequest?
    ) async throws -> Creation {
        let now = clock.now()
        return try once(request, in: network) { network in
            let count = WebhookSignature.maximumSignedSecretCount
            network.outgoingSecrets.rotate(to: secret, overlap: overlap, now: now, keeping: count)
            return true
        }
    }

    /// Carries a request out in a network, or answers what it was answered when it came before.
    func once(
        _ request: IdempotentRequest?,
        in network: NetworkID,
        _ create: (inout MemoryNetwork) throws -> Bool
    ) throws -> Creation {
        try once(request) { state in
            guard var changed = state.networks[network] else { throw UnknownNetwork() }
            guard try create(&changed) else { return false }
            state.networks[network] = changed
            return true
        }
    }

    /// Carries a request out, or answers what it was answered when it came before.
    func once(
        _ request: IdempotentRequest?,
        _ create: (inout MemoryState) throws -> Bool
    ) throws -> Creation {
        let now = clock.now()
        return try withState { state in
            guard let request else { return try create(&state) ? .created : .refused }
            let scope = request.networkID
            let known = state.requests[scope, default: [:]].filter { now < $0.value.at + IdempotentRequest.lifetime }
            if let former = known[request.keyHash]?.request {
                guard former.bodyHash == request.bodyHash else { throw IdempotentRequest.Failure.differentBody }
                return .repeated(answer: former.answer)
            }
            guard scope == nil || known.count < IdempotentRequest.maximumPerNetwork else {
                throw IdempotentRequest.Failure.tooMany
            }
            guard try create(&state) else { return .refused }
            state.requests[scope] = known.merging([request.keyHash: (request, now)]) { _, new in new }
            return .created
        }
    }
}

extension WebhookSecretRecord {
    func isValid(at now: Timestamp) -> Bool { expiresAt.map { now < $0 } ?? true }
}

extension [WebhookSecretRecord] {
    /// Puts a secret first; the former ones end after the overlap, unless they end sooner.
    mutating func rotate(to secret: WebhookSecret, overlap: Duration, now: Timestamp, keeping limit: Int) {
        let end = now + overlap
        for index in indices { self[index].expiresAt = Swift.min(self[index].expiresAt ?? end, end) }
        self = [WebhookSecretRecord(secret: secret)] + filter { $0.isValid(at: now) }.prefix(limit - 1)
    }
}
