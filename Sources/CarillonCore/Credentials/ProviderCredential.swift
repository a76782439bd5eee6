/// What a push service knows us by, in one network and, where the service has them, for one app.
public struct ProviderCredential: Sendable, Equatable {
    /// The push service.
    public var provider: ProviderName
    /// The app; empty where a network has one credential for all.
    public var appID: String
    /// What identifies it, as `GET` shows it; holds nothing secret.
    public var identity: JSONObject
    /// What it is made of, as JSON; sealed at rest.
    public var material: Secret
    /// When it was stored.
    public var updatedAt: Timestamp

    /// A credential by its parts.
    public init(
        provider: ProviderName,
        appID: String,
        identity: JSONObject,
        material: Secret,
        updatedAt: Timestamp
    ) {
        self.provider = provider
        self.appID = appID
        self.identity = identity
        self.material = material
        self.updatedAt = updatedAt
    }
}

/// Reads the credentials of one push service as they are posted (API section 9).
public protocol CredentialFormat: Sendable {
    /// The push service.
    var provider: ProviderName { get }
    /// Whether each app has a credential of its own.
    var isPerApp: Bool { get }

    /// Checks a credential whole: keys parse, belong together and are not out of date.
    ///
    /// - Parameters:
    ///   - document: The body of a `PUT`.
    ///   - appID: The app of the path, or empty.
    ///   - former: What is replaced; generated keys are taken over from it.
    ///   - now: The time by which certificates are judged.
    /// - Returns: The credential to store.
    /// - Throws: Everything that is wrong with the document, by pointers.
    func read(
        _ document: JSONValue,
        appID: String,
        former: ProviderCredential?,
        now: Timestamp
    ) throws(InvalidInput) -> ProviderCredential

    /// What there is before anything was posted, where we make it ourselves; `nil` where there is nothing then.
    func initial(now: Timestamp) -> ProviderCredential?
}

extension CredentialFormat {
    /// Nothing.
    public func initial(now: Timestamp) -> ProviderCredential? { nil }
}

/// The credentials of networks with push services, and the tokens that were made from them.
public protocol ProviderCredentialStore: Sendable {
    /// A credential; `nil` when there is none.
    func providerCredential(
        _ provider: ProviderName,
        appID: String,
        of network: NetworkID
    ) async throws -> ProviderCredential?
    /// A network's credentials by provider and app.
    func providerCredentials(of network: NetworkID) async throws -> [ProviderCredential]
    /// What a network has credentials for, by provider and app, whether they can be read or not.
    func providersWithCredentials(of network: NetworkID) async throws -> [(provider: ProviderName, appID: String)]
    /// Stores a credential in the place of the one before; `true` when there was none.
    func putProviderCredential(_ credential: ProviderCredential, of network: NetworkID) async throws -> Bool
    /// Stores a credential where there is none; answers what is there then.
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

    /// Stores `candidate` under `key` unless a token is there that was issued at `oldest` or later; answers what is there
    /// then, so that replicas and restarts share one token instead of minting more.
    func providerToken(
        _ key: String,
        candidate: ProviderToken,
        ifOlderThan oldest: Timestamp
    ) async throws -> ProviderToken
}
