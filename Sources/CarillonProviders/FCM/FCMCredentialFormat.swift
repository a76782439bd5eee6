package import CarillonCore

/// Reads service accounts as they are posted: one for each app.
package struct FCMCredentialFormat: CredentialFormat {
    /// `fcm`.
    package let provider = ProviderName.fcm
    /// Each app belongs to a project of Google's.
    package let isPerApp = true

    private let server: FCMServer

    /// A format.
    /// - Parameter server: Where FCM is; decides which `token_uri` is taken.
    package init(server: FCMServer = .google) {
        self.server = server
    }

    /// Checks a service account whole; nothing is taken over from the one before.
    package func read(
        _ document: JSONValue,
        appID: String,
        former: ProviderCredential?,
        now: Timestamp
    ) throws(InvalidInput) -> ProviderCredential {
        let credential = try FCMCredential(reading: document, for: server)
        return ProviderCredential(
            provider: provider,
            appID: appID,
            identity: credential.identity,
            material: Secret(credential.stored.serializedText),
            updatedAt: now
        )
    }
}

extension FCMCredential {
    /// Reads back what ``FCMCredentialFormat`` made.
    /// - Throws: `InvalidInput` when it is something else.
    package init(_ credential: ProviderCredential) throws(InvalidInput) {
        try self.init(stored: credential.document)
    }
}
