import CarillonCore

/// Credentials of which none can be read, or with which something happens whenever one has been read or before they are listed.
struct CredentialsInTrouble: ProviderCredentialStore {
    let store: any ProviderCredentialStore
    var areReadable = true
    var afterReading: @Sendable (ProviderCredential?) async throws -> Void = { _ in }
    var beforeListing: @Sendable (NetworkID) async -> Void = { _ in }

    func providerCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> ProviderCredential? {
        let found = try await store.providerCredential(provider, appID: appID, of: network)
        if found != nil, !areReadable { throw UnreadableCredential(provider: provider, appID: appID) }
        try await afterReading(found)
        return found
    }

    func providerCredentials(of network: NetworkID) async throws -> [ProviderCredential] {
        let found = try await store.providerCredentials(of: network)
        if let first = found.first, !areReadable {
            throw UnreadableCredential(provider: first.provider, appID: first.appID)
        }
        return found
    }

    func providersWithCredentials(of network: NetworkID) async throws -> [(provider: ProviderName, appID: String)] {
        await beforeListing(network)
        return try await store.providersWithCredentials(of: network)
    }

    func putProviderCredential(
        _ credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> CredentialChange {
        try await store.putProviderCredential(credential, of: network)
    }

    func replaceProviderCredential(
        _ former: ProviderCredential,
        by credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> Bool {
        try await store.replaceProviderCredential(former, by: credential, of: network)
    }

    func addProviderCredential(
        _ credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> ProviderCredential {
        try await store.addProviderCredential(credential, of: network)
    }

    func deleteProviderCredential(_ provider: ProviderName, appID: String, of network: NetworkID) async throws -> Bool {
        try await store.deleteProviderCredential(provider, appID: appID, of: network)
    }
}
