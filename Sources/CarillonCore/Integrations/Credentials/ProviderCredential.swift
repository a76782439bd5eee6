/// What a push service knows us by, in one network and, where the service has them, for one app.
package struct ProviderCredential: Sendable, Equatable {
    package var provider: ProviderName
    /// The app; empty where a network has one credential for all.
    package var appID: String
    /// What identifies it, as `GET` shows it; holds nothing secret.
    package var identity: JSONObject
    /// What it is made of, as JSON; sealed at rest.
    package var material: Secret
    package var updatedAt: Timestamp

    package init(
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

    /// Whether both are the same credential, whenever they were stored.
    package func isSame(as other: ProviderCredential) -> Bool {
        (provider, appID) == (other.provider, other.appID) && material == other.material && identity == other.identity
    }
}

/// How the credentials of one push service are posted (API section 9).
package struct CredentialFormat: Sendable {
    /// Checks a credential whole: keys parse, belong together and are not out of date.
    ///
    /// - Parameters:
    ///   - document: The body of a `PUT`.
    ///   - appID: The app of the path, or empty.
    ///   - former: What is replaced, where there is one for all apps; generated keys are taken over from it.
    ///   - now: The time by which certificates are judged.
    /// - Returns: The credential to store.
    /// - Throws: Everything that is wrong with the document, by pointers; what is right without `former` and wrong with it
    ///   is wrong with `former`.
    package typealias Read =
        @Sendable (
            _ document: JSONValue, _ appID: String, _ former: ProviderCredential?, _ now: Timestamp
        ) throws(InvalidInput) -> ProviderCredential

    package let provider: ProviderName
    /// What there is before anything was posted, where we make it ourselves; `nil` where there is nothing then.
    package let initial: @Sendable (_ now: Timestamp) -> ProviderCredential?
    package let read: Read

    package init(
        _ provider: ProviderName,
        initial: @escaping @Sendable (_ now: Timestamp) -> ProviderCredential?,
        read: @escaping Read
    ) {
        self.provider = provider
        self.initial = initial
        self.read = read
    }

    package var isPerApp: Bool { provider.kind.lanes == .byApp }
}
