import CarillonCore
import Crypto
import NIOSSL
import SwiftASN1
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A certificate that Apple made out for some apps, with its key, for mutual TLS.
struct APNsCertificate: Sendable {
    /// What of a certificate and its key is to be corrected.
    enum Problem: Error, Equatable {
        case certificate(String)
        case key(String)
        case pkcs12(String)
    }

    private static let mostCertificates = 10

    let subject: String
    let notBefore: Timestamp
    let notAfter: Timestamp
    /// The app ids that it is for.
    let topics: [String]
    /// SHA-256 of the certificate, in hexadecimal.
    let fingerprint: String
    /// The certificate and those between it and its root, in PEM.
    let certificatePEM: String
    let keyPEM: String
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    /// A certificate and its key, both in PEM, the certificate first of those in the text.
    init(certificatePEM: String, keyPEM: String) throws(Problem) {
        let chain: [Certificate]
        do {
            chain = try PEMDocument.parseMultiple(pemString: certificatePEM).map { try Certificate(pemDocument: $0) }
        } catch {
            throw .certificate("must be a certificate in PEM")
        }
        guard !chain.isEmpty else { throw .certificate("must be a certificate in PEM") }
        let key: Certificate.PrivateKey
        do {
            key = try Certificate.PrivateKey(pemEncoded: keyPEM)
        } catch {
            throw .key("must be a private key in PEM, without a passphrase")
        }
        try self.init(chain, key)
    }

    init(pkcs12: [UInt8], passphrase: String) throws(Problem) {
        let chain: [Certificate]
        let key: Certificate.PrivateKey
        do {
            let bundle = try NIOSSLPKCS12Bundle(buffer: pkcs12, passphrase: passphrase.utf8)
            chain = try bundle.certificateChain.map { try Certificate(derEncoded: $0.toDERBytes()) }
            key = try Certificate.PrivateKey(of: bundle)
        } catch {
            throw .pkcs12("must be a PKCS#12 file with a certificate and its key, which the passphrase opens")
        }
        try self.init(chain, key)
    }

    private init(_ chain: [Certificate], _ key: Certificate.PrivateKey) throws(Problem) {
        guard let leaf = chain.first, chain.count <= Self.mostCertificates else {
            throw .certificate("must hold 1 to \(Self.mostCertificates) certificates")
        }
        guard leaf.publicKey == key.publicKey else { throw .key("must be the key of the certificate") }
        do {
            keyPEM = try key.serializeAsPEM().pemString
            certificatePEM = try chain.map { try $0.serializeAsPEM().pemString }.joined(separator: "\n")
            self.chain = try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8))
            self.key = try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
            fingerprint = SHA256.hash(data: try self.chain[0].toDERBytes()).hexadecimal
        } catch {
            throw .key("must be a key that TLS can use")
        }
        subject = leaf.subject.description
        notBefore = Timestamp(leaf.notValidBefore)
        notAfter = Timestamp(leaf.notValidAfter)
        topics = leaf.apnsTopics
    }

    /// Adds the certificate to what a client shows.
    func identify(_ configuration: inout TLSConfiguration) {
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
    }
}

extension Certificate.PrivateKey {
    /// The bundle's key, whose form does not tell of which kind it is.
    fileprivate init(of bundle: NIOSSLPKCS12Bundle) throws {
        let bytes = try bundle.privateKey.derBytes
        if let key = try? Self(pemDocument: PEMDocument(type: "RSA PRIVATE KEY", derBytes: bytes)) {
            self = key
        } else {
            try self.init(pemDocument: PEMDocument(type: "EC PRIVATE KEY", derBytes: bytes))
        }
    }
}

extension Certificate {
    /// The app ids in Apple's own extension, with those of its further services; in older certificates the user id of the
    /// subject.
    fileprivate var apnsTopics: [String] {
        let extensionID: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 6]
        let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
        let listed = extensions[oid: extensionID].flatMap { try? Self.strings(in: $0.value) } ?? []
        let named = subject.flatMap { $0 }.filter { $0.type == userID }.compactMap { String($0.value) }
        return listed + named.filter { !listed.contains($0) }
    }

    /// The strings of a sequence, passing over what else is in it.
    private static func strings(in bytes: ArraySlice<UInt8>) throws -> [String] {
        try DER.sequence(try DER.parse(bytes), identifier: .sequence) { nodes in
            var strings: [String] = []
            while let node = nodes.next() {
                if node.identifier == .utf8String { strings.append(String(try ASN1UTF8String(derEncoded: node))) }
            }
            return strings
        }
    }
}

extension Timestamp {
    fileprivate init(_ date: Date) {
        self.init(milliseconds: Int64(date.timeIntervalSince1970 * 1_000))
    }
}
