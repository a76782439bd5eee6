package import CarillonCore

/// Reads keys and certificates for APNs as they are posted: one for each app.
package struct APNsCredentialFormat: CredentialFormat {
    /// `apns`.
    package let provider = ProviderName.apns
    /// An app is a topic of Apple's.
    package let isPerApp = true

    /// The format.
    package init() {}

    /// Checks a key or a certificate whole; nothing is taken over from the one before.
    package func read(
        _ document: JSONValue,
        appID: String,
        former: ProviderCredential?,
        now: Timestamp
    ) throws(InvalidInput) -> ProviderCredential {
        let credential = try APNsCredential(reading: document, appID: appID, now: now)
        return ProviderCredential(
            provider: provider,
            appID: appID,
            identity: credential.identity,
            material: Secret(credential.stored.serializedText),
            updatedAt: now
        )
    }
}

extension APNsCredentialFormat {
    /// The app ids that a certificate is for, with its key, both in PEM; none where it is no certificate for APNs.
    package static func topics(ofCertificate certificate: String, key: String) -> [String] {
        (try? APNsCertificate(certificatePEM: certificate, keyPEM: key))?.topics ?? []
    }
}

extension APNsCredential {
    /// Reads back what ``APNsCredentialFormat`` made.
    /// - Throws: `InvalidInput` when it is something else.
    package init(_ credential: ProviderCredential) throws(InvalidInput) {
        try self.init(stored: credential.document)
    }
}
