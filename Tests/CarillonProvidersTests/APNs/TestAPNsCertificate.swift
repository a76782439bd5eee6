import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A certificate like those that Apple makes out, signed by itself.
struct TestAPNsCertificate {
    let certificate: Certificate
    let key: Certificate.PrivateKey

    init(
        topics: [String] = [],
        userID: String? = nil,
        from start: String = "2020-01-01",
        until end: String = "2099-12-31",
        key privateKey: P256.Signing.PrivateKey = P256.Signing.PrivateKey()
    ) throws {
        key = Certificate.PrivateKey(privateKey)
        var names: [RelativeDistinguishedName.Attribute] = [
            .init(type: .RDNAttributeType.commonName, utf8String: "Apple Push Services: com.acme.chat")
        ]
        if let userID { names.append(.init(type: [0, 9, 2342, 19_200_300, 100, 1, 1], utf8String: userID)) }
        let subject = try DistinguishedName(names)
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { coder in
            for topic in topics {
                try coder.serialize(ASN1UTF8String(topic))
                try coder.appendConstructedNode(identifier: .sequence) { try $0.serialize(ASN1UTF8String("app")) }
            }
        }
        let listed = Certificate.Extension(
            oid: [1, 2, 840, 113635, 100, 6, 3, 6],
            critical: false,
            value: serializer.serializedBytes[...]
        )
        certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: Date("\(start)T00:00:00Z", strategy: .iso8601),
            notValidAfter: Date("\(end)T00:00:00Z", strategy: .iso8601),
            issuer: subject,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions(topics.isEmpty ? [] : [listed]),
            issuerPrivateKey: key
        )
    }

    var pem: String { get throws { try certificate.serializeAsPEM().pemString } }
    var keyPEM: String { get throws { try key.serializeAsPEM().pemString } }
    var trusted: NIOSSLCertificate { get throws { try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem) } }

    func pkcs12(passphrase: String) throws -> String {
        let key = try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
        let bundle = NIOSSLPKCS12Bundle(certificateChain: [try trusted], privateKey: key)
        return Data(try bundle.serialize(passphrase: passphrase.utf8)).base64EncodedString()
    }
}
