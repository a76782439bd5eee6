import NIOSSL
import SwiftASN1
import X509

enum ServerTLS {
    /// A context for one service, which trusts client certificates of `authority` (in PEM).
    static func context(
        _ issued: IssuedCertificate,
        authority: String,
        clients: SimulatorConfiguration.ClientCertificates,
        protocols: [String]
    ) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(issued.certificatePEM.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(issued.privateKeyPEM.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = protocols
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
        switch clients {
        case .none: configuration.certificateVerification = .none
        case .optional: configuration.certificateVerification = .optionalVerification
        case .required: configuration.certificateVerification = .noHostnameVerification
        }
        return try NIOSSLContext(configuration: configuration)
    }
}

/// What the certificate of a client of APNs says.
enum ClientCertificate {
    /// The attribute of a subject in which Apple writes the app's bundle id.
    static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    /// The app that the certificate is for; `nil` when it names none.
    static func topic(of certificate: NIOSSLCertificate) -> String? {
        guard let bytes = try? certificate.toDERBytes(), let certificate = try? Certificate(derEncoded: bytes) else {
            return nil
        }
        for name in certificate.subject {
            for attribute in name where attribute.type == userID { return String(attribute.value) }
        }
        return nil
    }
}
