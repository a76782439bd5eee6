import CarillonCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension APNsCredential {
    private static let mostPEMBytes = 32_768
    /// In base64; a body of 64 KiB holds no more beside the member's name.
    private static let mostFileBytes = 65_520
    private static let mostIDBytes = 32

    /// `teamId`, `keyId` and the `.p8` file's text as `privateKey`.
    static func signingKey(from reader: inout JSONObjectReader) -> Kind? {
        let teamID = id("teamId", from: &reader)
        let keyID = id("keyId", from: &reader)
        guard let pem = reader.string("privateKey", required: true, maximumBytes: mostPEMBytes) else { return nil }
        do {
            let key = try APNsSigningKey(teamID: teamID ?? "", keyID: keyID ?? "", pem: pem)
            return teamID == nil || keyID == nil ? nil : .token(key)
        } catch {
            reader.refuse(
                "privateKey",
                holding: pem,
                "must be a private key on the curve P-256 in PEM, as in Apple's .p8 file"
            )
            return nil
        }
    }

    /// `certificate` and `privateKey`; for an app at a time, or unchecked.
    static func certificate(
        from reader: inout JSONObjectReader,
        for appID: String? = nil,
        at now: Timestamp? = nil
    ) -> Kind? {
        let certificate = reader.string("certificate", required: true, maximumBytes: mostPEMBytes)
        let key = reader.string("privateKey", required: true, maximumBytes: mostPEMBytes)
        guard let certificate, let key else { return nil }
        for (name, text) in [("certificate", certificate), ("privateKey", key)] where text.isPathOfFile {
            reader.refuse(name, .insteadOfPath)
        }
        guard !certificate.isPathOfFile, !key.isPathOfFile else { return nil }
        return checked(&reader, appID, now) { () throws(APNsCertificate.Problem) in
            try APNsCertificate(certificatePEM: certificate, keyPEM: key)
        }
    }

    /// `pkcs12` and its `passphrase`, which may be left out when it is empty.
    static func pkcs12(from reader: inout JSONObjectReader, for appID: String, at now: Timestamp) -> Kind? {
        let passphrase = reader.string("passphrase") ?? ""
        guard let text = reader.string("pkcs12", required: true, maximumBytes: mostFileBytes) else { return nil }
        // `base64` and `openssl` break lines.
        guard let file = Data(base64Encoded: text.filter { !$0.isWhitespace }), !file.isEmpty else {
            reader.refuse("pkcs12", holding: text, "must be a PKCS#12 file in base64")
            return nil
        }
        return checked(&reader, appID, now) { () throws(APNsCertificate.Problem) in
            try APNsCertificate(pkcs12: Array(file), passphrase: passphrase)
        }
    }

    private static func checked(
        _ reader: inout JSONObjectReader,
        _ appID: String?,
        _ now: Timestamp?,
        _ make: () throws(APNsCertificate.Problem) -> APNsCertificate
    ) -> Kind? {
        let place = reader.contains("pkcs12") ? "pkcs12" : "certificate"
        let certificate: APNsCertificate
        do throws(APNsCertificate.Problem) {
            certificate = try make()
        } catch {
            switch error {
            case .certificate(let detail): reader.refuse(place, detail)
            case .key(let detail): reader.refuse(place == "pkcs12" ? place : "privateKey", detail)
            case .pkcs12(let detail): reader.refuse("pkcs12", detail)
            }
            return nil
        }
        // It is kept as PEM, whatever it came in, and read again within the same limit.
        if certificate.certificatePEM.utf8.count > mostPEMBytes || certificate.keyPEM.utf8.count > mostPEMBytes {
            reader.refuse(place, "must have at most \(mostPEMBytes) bytes in PEM, with all of its chain")
        }
        if let now, now >= certificate.notAfter {
            reader.refuse(place, "must not have expired; it did at \(certificate.notAfter)")
        }
        if let now, now < certificate.notBefore {
            reader.refuse(place, "must be valid already; it is from \(certificate.notBefore) on")
        }
        if let appID, !certificate.topics.contains(appID) {
            let topics = certificate.topics.prefix(10).joined(separator: ", ")
            reader.refuse(place, "must be for this app; it is for \(topics.isEmpty ? "none" : topics)")
        }
        return .certificate(certificate)
    }

    private static func id(_ key: String, from reader: inout JSONObjectReader) -> String? {
        guard let text = reader.string(key, required: true, maximumBytes: mostIDBytes, nonEmpty: true) else {
            return nil
        }
        guard text.utf8.allSatisfy({ $0.isASCIIAlphanumeric }) else {
            reader.refuse(key, "must be letters and digits, as Apple's developer pages show it")
            return nil
        }
        return text
    }
}
