import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A certificate authority for as long as a simulator lives.
package struct CertificateAuthority: Sendable {
    private static let validity: TimeInterval = 365 * 86_400
    private let certificate: Certificate
    private let key: Certificate.PrivateKey
    /// The certificate of the authority.
    package let pem: String

    /// An authority with a key of its own.
    package init() throws {
        let signingKey = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("Carillon Simulator CA") }
        key = Certificate.PrivateKey(signingKey)
        certificate = try Self.issue(
            to: name,
            publicKey: Certificate.PublicKey(signingKey.publicKey),
            by: name,
            key: key,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(keyIdentifier: ArraySlice(Self.identifier(of: signingKey.publicKey)))
            }
        )
        pem = try certificate.serializeAsPEM().pemString + "\n"
    }

    /// A certificate for a server with these host names, and IPv4 or IPv6 addresses as bytes.
    package func issueServer(names: [String], addresses: [[UInt8]]) throws -> IssuedCertificate {
        let alternatives =
            names.map { GeneralName.dnsName($0) }
            + addresses.map { GeneralName.ipAddress(ASN1OctetString(contentBytes: ArraySlice($0))) }
        let subject = try DistinguishedName { CommonName("Carillon Simulator") }
        return try issue(to: subject, usage: .serverAuth, alternatives: alternatives)
    }

    /// A certificate with which a client pushes to an app, as Apple issues them: `UID` is the topic, its bundle id.
    func issueClient(topic: String) throws -> IssuedCertificate {
        let subject = DistinguishedName([
            RelativeDistinguishedName([.init(type: ClientCertificate.userID, utf8String: topic)]),
            RelativeDistinguishedName([
                .init(type: .NameAttributes.commonName, utf8String: "Apple Push Services: \(topic)")
            ]),
        ])
        return try issue(to: subject, usage: .clientAuth, alternatives: [])
    }

    private func issue(
        to subject: DistinguishedName,
        usage: ExtendedKeyUsage.Usage,
        alternatives: [GeneralName]
    ) throws -> IssuedCertificate {
        let privateKey = P256.Signing.PrivateKey()
        let issued = try Self.issue(
            to: subject,
            publicKey: Certificate.PublicKey(privateKey.publicKey),
            by: certificate.subject,
            key: key,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([usage])
                if !alternatives.isEmpty { SubjectAlternativeNames(alternatives) }
            }
        )
        return IssuedCertificate(
            certificatePEM: try issued.serializeAsPEM().pemString + "\n",
            privateKeyPEM: privateKey.pemRepresentation + "\n"
        )
    }

    private static func issue(
        to subject: DistinguishedName,
        publicKey: Certificate.PublicKey,
        by issuer: DistinguishedName,
        key: Certificate.PrivateKey,
        extensions: Certificate.Extensions
    ) throws -> Certificate {
        let now = Date()
        return try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: publicKey,
            // Clocks of other machines may be behind.
            notValidBefore: now.addingTimeInterval(-3600),
            notValidAfter: now.addingTimeInterval(validity),
            issuer: issuer,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions,
            issuerPrivateKey: key
        )
    }

    private static func identifier(of key: P256.Signing.PublicKey) -> [UInt8] {
        Array(Insecure.SHA1.hash(data: key.x963Representation))
    }
}

/// A certificate that the simulator's authority has issued, with its key.
package struct IssuedCertificate: Sendable {
    package let certificatePEM: String
    /// Its key in PEM (PKCS#8).
    package let privateKeyPEM: String
}
