import CarillonCore
import Crypto
import Foundation

@testable import CarillonProviders

/// A browser that has subscribed: can read what is sent to it, by the words of the RFCs and not by our own code.
struct TestBrowser: Sendable {
    struct Unreadable: Error {
        var reason: String
    }

    let endpoint: String
    let key: P256.KeyAgreement.PrivateKey
    let authSecret: [UInt8]

    init(
        endpoint: String = "https://push.example/send/1",
        key: P256.KeyAgreement.PrivateKey = P256.KeyAgreement.PrivateKey(),
        authSecret: [UInt8] = (0..<16).map { _ in UInt8.random(in: 0...255) }
    ) {
        self.endpoint = endpoint
        self.key = key
        self.authSecret = authSecret
    }

    var p256dh: String { Base64URL.encode(key.publicKey.x963Representation) }
    var auth: String { Base64URL.encode(authSecret) }
    var address: DeviceAddress { .webpush(endpoint: endpoint, p256dh: p256dh, auth: auth) }

    /// RFC 8188 section 2 and RFC 8291 section 3.4, for one record.
    func read(_ body: [UInt8]) throws -> [UInt8] {
        guard body.count >= 86 + 17 else { throw Unreadable(reason: "too short") }
        guard Array(body[16..<21]) == [0, 0, 0x10, 0, 65] else { throw Unreadable(reason: "record size or key length") }
        guard body.count - 86 <= 4_096 else { throw Unreadable(reason: "more than one record") }
        let point = Array(body[21..<86])
        let sender = try P256.KeyAgreement.PublicKey(x963Representation: point)
        let secret = try key.sharedSecretFromKeyAgreement(with: sender).withUnsafeBytes { Array($0) }
        let first = Self.mac(key: authSecret, secret)
        let info = Array("WebPush: info\0".utf8) + Array(key.publicKey.x963Representation) + point
        let input = Self.mac(key: first, info + [1])
        let second = Self.mac(key: Array(body[..<16]), input)
        let contentKey = Self.mac(key: second, Array("Content-Encoding: aes128gcm\0".utf8) + [1]).prefix(16)
        let nonce = Self.mac(key: second, Array("Content-Encoding: nonce\0".utf8) + [1]).prefix(12)
        let box = try AES.GCM.SealedBox(combined: Data(nonce) + Data(body[86...]))
        let padded = Array(try AES.GCM.open(box, using: SymmetricKey(data: contentKey)))
        guard let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 2 else {
            throw Unreadable(reason: "padding")
        }
        return Array(padded[..<end])
    }

    private static func mac(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }
}

extension WebPushCredential {
    static func example(subject: JSONValue = "mailto:ops@acme.example") throws -> WebPushCredential {
        try WebPushCredential(reading: ["subject": subject], keepingKeyOf: nil)
    }
}

/// The parts of `Authorization: vapid t=…, k=…`.
struct VAPIDHeader {
    let claims: JSONObject
    let publicKey: [UInt8]

    /// Takes a header apart and verifies its signature with the key that it names; `nil` for anything else.
    init?(_ header: String) {
        let parts = header.split(separator: " ")
        guard parts.count == 3, parts[0] == "vapid", parts[1].hasPrefix("t="), parts[1].hasSuffix(","),
            parts[2].hasPrefix("k="), let point = Base64URL.decode(parts[2].dropFirst(2).utf8),
            let key = try? P256.Signing.PublicKey(x963Representation: point)
        else { return nil }
        let token = parts[1].dropFirst(2).dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard token.count == 3, let signature = Base64URL.decode(token[2].utf8),
            let head = Base64URL.decode(token[0].utf8), let body = Base64URL.decode(token[1].utf8),
            (try? JSONValue(parsing: head)) == ["typ": "JWT", "alg": "ES256"],
            case .object(let claims)? = try? JSONValue(parsing: body),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: Array("\(token[0]).\(token[1])".utf8))
        else { return nil }
        self.claims = claims
        publicKey = point
    }
}
