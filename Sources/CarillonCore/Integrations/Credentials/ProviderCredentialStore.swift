/// The credentials of networks with push services, and the tokens that were made from them.
package protocol ProviderCredentialStore: Sendable {
    /// A credential; `nil` when there is none.
    ///
    /// - Throws: ``UnreadableCredential`` among others.
    func providerCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> ProviderCredential?
    /// A network's credentials by provider and app.
    ///
    /// - Throws: ``UnreadableCredential`` among others, when any of them cannot be read.
    func providerCredentials(of network: NetworkID) async throws -> [ProviderCredential]
    /// What a network has credentials for, by provider and app, whether they can be read or not.
    func providersWithCredentials(of network: NetworkID) async throws -> [(provider: ProviderName, appID: String)]
    /// Stores a credential in the place of the one before, which need not be readable.
    ///
    /// One that is the same as before is not stored again, and keeps its time.
    func putProviderCredential(
        _ credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> CredentialChange
    /// Stores a credential in the place of `former`; `false` when that is not what is there any more.
    func replaceProviderCredential(
        _ former: ProviderCredential,
        by credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> Bool
    /// Stores a credential where there is none; answers what is there then.
    ///
    /// - Throws: ``UnreadableCredential`` among others, when there is one.
    func addProviderCredential(
        _ credential: ProviderCredential,
        of network: NetworkID
    ) async throws -> ProviderCredential
    /// Removes a credential; `false` when there is none.
    func deleteProviderCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> Bool
}

/// Tokens that providers' credentials were exchanged for.
package protocol ProviderTokenStore: Sendable {
    /// Stores `candidate` under `key` unless a token is there that was issued at `oldest` or later, and is not ahead of the candidate's
    /// time; answers what is there then, so that replicas and restarts share one token instead of minting more.
    func providerToken(
        _ key: String,
        candidate: ProviderToken,
        ifOlderThan oldest: Timestamp
    ) async throws -> ProviderToken
}

/// What storing a credential came to.
package enum CredentialChange: Sendable, Equatable {
    case added
    case replaced
    /// The same is there since before, as it was stored then.
    case unchanged(ProviderCredential)
}

/// A credential is stored that cannot be read: it was sealed with another master key, or is damaged.
package struct UnreadableCredential: Error, Equatable, CustomStringConvertible {
    package var provider: ProviderName
    /// The app; empty where a network has one credential for all.
    package var appID: String

    package init(provider: ProviderName, appID: String) {
        self.provider = provider
        self.appID = appID
    }

    package var description: String {
        let app = appID.isEmpty ? "" : " for \(appID)"
        return "the stored \(provider.rawValue) credential\(app) was sealed with another master key or is damaged"
    }
}
