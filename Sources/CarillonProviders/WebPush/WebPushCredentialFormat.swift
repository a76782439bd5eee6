public import CarillonCore

/// Reads a network's Web Push credential as it is posted, and makes its key pair.
public struct WebPushCredentialFormat: CredentialFormat {
    /// `webpush`.
    public let provider = ProviderName.webpush
    /// Browsers do not know apps: a network has one key.
    public let isPerApp = false

    /// A format.
    public init() {}

    /// Checks the subject, and keeps the key pair of the credential before.
    ///
    /// A former credential that cannot be read is an error too: a new key would silence every browser.
    public func read(
        _ document: JSONValue,
        appID: String,
        former: ProviderCredential?,
        now: Timestamp
    ) throws(InvalidInput) -> ProviderCredential {
        var kept: WebPushCredential?
        if let former { kept = try WebPushCredential(former) }
        return stored(try WebPushCredential(reading: document, keepingKeyOf: kept), now: now)
    }

    /// A key pair without a subject: pages can subscribe with it.
    public func initial(now: Timestamp) -> ProviderCredential? {
        stored(WebPushCredential(), now: now)
    }

    private func stored(_ credential: WebPushCredential, now: Timestamp) -> ProviderCredential {
        ProviderCredential(
            provider: provider,
            appID: "",
            identity: credential.identity,
            material: Secret(credential.stored.serializedText),
            updatedAt: now
        )
    }
}

extension WebPushCredential {
    /// Reads back what ``WebPushCredentialFormat`` made.
    /// - Throws: `InvalidInput` when it is something else.
    public init(_ credential: ProviderCredential) throws(InvalidInput) {
        try self.init(stored: credential.document)
    }
}
