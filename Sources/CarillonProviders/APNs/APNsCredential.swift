package import CarillonCore

/// What shows APNs that we may send to an app: a key for provider tokens, or a certificate.
///
/// Keys and certificates are never part of a description.
package struct APNsCredential: PushCredential {
    enum Kind: Sendable {
        case token(APNsSigningKey)
        case certificate(APNsCertificate)
    }

    let kind: Kind

    /// What connections are shared by: APNs binds each to the first key or certificate that it sees.
    var connectionName: String {
        switch kind {
        case .token(let key): key.name
        case .certificate(let certificate): "apns/certificate/\(certificate.fingerprint)"
        }
    }

    /// What shows which credential it is: team and key, or subject, topics and end of a certificate. No secrets.
    package var identity: JSONObject {
        switch kind {
        case .token(let key): ["teamId": .string(key.teamID), "keyId": .string(key.keyID)]
        case .certificate(let certificate):
            [
                "subject": .string(certificate.subject), "topics": JSONValue(certificate.topics),
                "notAfter": JSONValue(certificate.notAfter), "fingerprint": .string(certificate.fingerprint),
            ]
        }
    }

    /// The end of a certificate; a key has none.
    package var notAfter: Timestamp? {
        if case .certificate(let certificate) = kind { certificate.notAfter } else { nil }
    }

    /// What was PKCS#12 becomes PEM.
    package var stored: JSONValue {
        switch kind {
        case .token(let key):
            ["teamId": .string(key.teamID), "keyId": .string(key.keyID), "privateKey": .string(key.pem)]
        case .certificate(let certificate):
            ["certificate": .string(certificate.certificatePEM), "privateKey": .string(certificate.keyPEM)]
        }
    }

    package init(stored: JSONValue) throws(InvalidInput) {
        kind = try stored.read(as: "invalid-credential") { reader in
            reader.contains("certificate") ? Self.certificate(from: &reader) : Self.signingKey(from: &reader)
        }
    }

    /// Reads the body of a `PUT` (API section 9) and checks all that can be checked without asking Apple.
    /// A certificate has to name the app, and to be valid now.
    /// - Throws: `InvalidInput` with a pointer to each member that is wrong.
    package init(reading document: JSONValue, appID: String, now: Timestamp) throws(InvalidInput) {
        kind = try document.read(as: "invalid-credential") { reader in
            if reader.contains("pkcs12") { return Self.pkcs12(from: &reader, for: appID, at: now) }
            if reader.contains("certificate") { return Self.certificate(from: &reader, for: appID, at: now) }
            return Self.signingKey(from: &reader)
        }
    }

    /// The app ids that a certificate is for, with its key, both in PEM; none where it is no certificate for APNs.
    package static func topics(ofCertificate certificate: String, key: String) -> [String] {
        (try? APNsCertificate(certificatePEM: certificate, keyPEM: key))?.topics ?? []
    }

    /// Which credential it is, without secrets.
    package var description: String { JSONValue.object(identity).serializedText }
}

extension CredentialFormat {
    /// Keys and certificates for APNs: one for each app, which is a topic of Apple's.
    package static let apns = CredentialFormat(.apns) {
        (document, appID, _, now) throws(InvalidInput) in
        try APNsCredential(reading: document, appID: appID, now: now)
    }
}
