import Crypto
import Foundation
import NIOCore
import NIOSSL

/// A certificate authority that lives as long as a test.
struct TestAuthority {
    private let key = P256.Signing.PrivateKey()
    private let name = DER.name("Test Authority")

    /// For whom a certificate is.
    enum Subject {
        case name(String)
        case address([UInt8])
    }

    /// When a certificate is valid.
    enum Validity: String {
        case current = "20200101000000Z/20991231235959Z"
        case expired = "20200101000000Z/20210101000000Z"
    }

    /// The authority's own certificate.
    func certificate() throws -> NIOSSLCertificate {
        let constraints = DER.sequence([
            DER.objectID([0x55, 0x1D, 0x13]), DER.boolean(true), DER.octets(DER.sequence([DER.boolean(true)])),
        ])
        return try sign(for: key.publicKey, name: name, validity: .current, extension: constraints)
    }

    /// How a server speaks TLS with a certificate of this authority.
    func serverConfiguration(for subject: Subject, validity: Validity = .current) throws -> TLSConfiguration {
        let serverKey = P256.Signing.PrivateKey()
        let alternativeName =
            switch subject {
            case .name(let name): DER.element(0x82, Array(name.utf8))
            case .address(let bytes): DER.element(0x87, bytes)
            }
        let names = DER.sequence([DER.objectID([0x55, 0x1D, 0x11]), DER.octets(DER.sequence([alternativeName]))])
        let certificate = try sign(
            for: serverKey.publicKey,
            name: DER.name("server"),
            validity: validity,
            extension: names
        )
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(serverKey.derRepresentation), format: .der))
        )
        configuration.shutdownTimeout = .milliseconds(100)
        return configuration
    }

    private func sign(
        for publicKey: P256.Signing.PublicKey,
        name subject: [UInt8],
        validity: Validity,
        extension: [UInt8]
    ) throws -> NIOSSLCertificate {
        let algorithm = DER.sequence([DER.objectID([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02])])
        let times = validity.rawValue.split(separator: "/").map { DER.element(0x18, Array($0.utf8)) }
        let body = DER.sequence([
            DER.element(0xA0, DER.element(0x02, [2])),
            DER.element(0x02, [1] + (0..<8).map { _ in UInt8.random(in: 0...255) }),
            algorithm,
            name,
            DER.sequence(times),
            subject,
            Array(publicKey.derRepresentation),
            DER.element(0xA3, DER.sequence([`extension`])),
        ])
        let signature = try key.signature(for: body).derRepresentation
        let bytes = DER.sequence([body, algorithm, DER.element(0x03, [0] + signature)])
        return try NIOSSLCertificate(bytes: bytes, format: .der)
    }
}

/// The few elements of ASN.1 (ITU-T X.690) that a certificate is made of.
private enum DER {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case 0..<0x80: [tag, UInt8(content.count)] + content
        case 0x80...0xFF: [tag, 0x81, UInt8(content.count)] + content
        default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
    }

    static func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(0x30, Array(elements.joined())) }
    static func objectID(_ bytes: [UInt8]) -> [UInt8] { element(0x06, bytes) }
    static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xFF : 0]) }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }

    static func name(_ commonName: String) -> [UInt8] {
        let attribute = sequence([objectID([0x55, 0x04, 0x03]), element(0x0C, Array(commonName.utf8))])
        return sequence([element(0x31, attribute)])
    }
}
