package import CarillonCore

/// Reads a network's Web Push credential as it is posted, and makes its key pair.
package struct WebPushCredentialFormat: CredentialFormat {
    /// `webpush`.
    package let provider = ProviderName.webpush
    /// Browsers do not know apps: a network has one key.
    package let isPerApp = false

    /// A format.
    package init() {}

    /// Checks the subject, and keeps the key pair of the credential before.
    ///
    /// A former credential that cannot be read is an error too: a new key would silence every browser.
    package func read(
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
    package func initial(now: Timestamp) -> ProviderCredential? {
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
    package init(_ credential: ProviderCredential) throws(InvalidInput) {
        try self.init(stored: credential.document)
    }
}
