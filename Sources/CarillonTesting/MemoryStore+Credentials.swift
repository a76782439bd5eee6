package import CarillonCore

extension MemoryStore: ProviderCredentialStore {
    /// A credential; `nil` when there is none.
    package func providerCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> ProviderCredential? {
        try withNetwork(network) { $0.providerCredentials[MemoryCredentialKey(provider: provider, appID: appID)] }
    }

    /// A network's credentials by provider and app.
    package func providerCredentials(of network: NetworkID) async throws -> [ProviderCredential] {
        try withNetwork(network) { network in
            network.providerCredentials.values.sorted { ($0.provider, $0.appID) < ($1.provider, $1.appID) }
        }
    }

    /// What a network has credentials for, by provider and app.
    package func providersWithCredentials(
        of network: NetworkID
    ) async throws -> [(provider: ProviderName, appID: String)] {
        try await providerCredentials(of: network).map { ($0.provider, $0.appID) }
    }

    /// Stores a credential in the place of the one before, unless that is the same.
    package func putProviderCredential(
        _ credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> CredentialChange {
        try withNetwork(network) { network in
            let key = MemoryCredentialKey(provider: credential.provider, appID: credential.appID)
            let former = network.providerCredentials[key]
            if let former, former.isSame(as: credential) { return .unchanged(former) }
            return network.providerCredentials.updateValue(credential, forKey: key) == nil ? .added : .replaced
        }
    }

    /// Stores a credential in the place of `former`; `false` when that is not what is there any more.
    package func replaceProviderCredential(
        _ former: ProviderCredential,
        by credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> Bool {
        try withNetwork(network) { network in
            let key = MemoryCredentialKey(provider: credential.provider, appID: credential.appID)
            guard network.providerCredentials[key]?.isSame(as: former) ?? false else { return false }
            network.providerCredentials[key] = credential
            return true
        }
    }

    /// Stores a credential where there is none; answers what is there then.
    package func addProviderCredential(
        _ credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> ProviderCredential {
        try withNetwork(network) { network in
            let key = MemoryCredentialKey(provider: credential.provider, appID: credential.appID)
            if let present = network.providerCredentials[key] { return present }
            network.providerCredentials[key] = credential
            return credential
        }
    }

    /// Removes a credential; `false` when there is none.
    package func deleteProviderCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> Bool {
        try withNetwork(network) { network in
            let key = MemoryCredentialKey(provider: provider, appID: appID)
            return network.providerCredentials.removeValue(forKey: key) != nil
        }
    }

    /// Stores `candidate` under `key` unless a token is there that was issued at `oldest` or later; answers what is there
    /// then.
    package func providerToken(
        _ key: String,
        candidate: ProviderToken,
        ifOlderThan oldest: Timestamp
    ) async throws -> ProviderToken {
        try withState { state in
            if let token = state.providerTokens[key], token.issuedAt >= oldest { return token }
            state.providerTokens[key] = candidate
            return candidate
        }
    }
}
