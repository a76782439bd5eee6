import NIOSSL
import SwiftASN1
import X509

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
