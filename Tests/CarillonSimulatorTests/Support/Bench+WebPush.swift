import CarillonSimulator
import Crypto
import Foundation
import _CryptoExtras

/// The key pair with which a sender identifies itself.
struct Sender: Sendable {
    let key = P256.Signing.PrivateKey()

    var publicKey: String { Token.base64URL(key.publicKey.x963Representation) }

    /// An authorization that is right but for the claims given.
    func authorization(for origin: String, _ claims: [String: Any] = [:]) throws -> String {
        var all: [String: Any] = ["aud": origin, "exp": Token.now + 3600, "sub": "mailto:ops@example.com"]
        all.merge(claims) { $1 }
        return "vapid t=\(try Token.es256(["alg": "ES256", "typ": "JWT"], all, key)), k=\(publicKey)"
    }
}

extension Bench {
    static let webPushText = #"{"title":"Bob","body":"Hello","data":{"notificationId":"n-1"}}"#

    /// Posts a message that is right but for the headers given; one with `nil` is left out.
    func push(
        to subscription: PushSubscription,
        from sender: Sender = Sender(),
        changing changes: KeyValuePairs<String, String?> = [:],
        body: [UInt8]? = nil
    ) async throws -> Answer {
        var headers: [String: String] = [
            "authorization": try sender.authorization(for: simulator.urls.webPush), "ttl": "60", "urgency": "high",
            "topic": "n-1", "content-encoding": "aes128gcm",
        ]
        for (name, value) in changes { headers[name] = value }
        return try await post(
            subscription.endpoint,
            headers: headers.map { ($0.key, $0.value) },
            body: try body ?? Self.encrypt(Array(Self.webPushText.utf8), for: subscription)
        )
    }

    /// Encrypts a message as RFC 8291 says.
    static func encrypt(_ text: [UInt8], for subscription: PushSubscription) throws -> [UInt8] {
        let receiver = Token.bytes(base64URL: subscription.p256dh)
        let sender = P256.KeyAgreement.PrivateKey()
        let point = sender.publicKey.x963Representation
        let secret = try sender.sharedSecretFromKeyAgreement(with: .init(x963Representation: receiver))
        let material = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: Token.bytes(base64URL: subscription.auth),
            sharedInfo: Data("WebPush: info\0".utf8) + receiver + point,
            outputByteCount: 32
        )
        let salt = Data((0..<16).map { _ in UInt8.random(in: 0...255) })
        func derive(_ info: String, _ length: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: material,
                salt: salt,
                info: Data("Content-Encoding: \(info)\0".utf8),
                outputByteCount: length
            )
        }
        let nonce = try derive("nonce", 12).withUnsafeBytes { try AES.GCM.Nonce(data: $0) }
        let sealed = try AES.GCM.seal(text + [2], using: derive("aes128gcm", 16), nonce: nonce)
        return Array(salt) + [0, 0, 16, 0, 65] + Array(point) + Array(sealed.ciphertext) + Array(sealed.tag)
    }
}

/// JSON Web Tokens as senders sign them.
enum Token {
    static var now: Int { Int(Date().timeIntervalSince1970) }

    /// A provider token for APNs.
    static func apns(
        _ key: APNsKey,
        issuedAt: Int = now,
        issuer: String? = nil,
        keyID: String? = nil,
        algorithm: String = "ES256",
        signedBy signer: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        let header = ["alg": algorithm, "kid": keyID ?? key.keyID]
        let claims: [String: Any] = ["iss": issuer ?? key.teamID, "iat": issuedAt]
        let signer = try signer ?? P256.Signing.PrivateKey(pemRepresentation: key.privateKeyPEM)
        return "bearer " + (try es256(header, claims, signer))
    }

    static func es256(
        _ header: [String: String],
        _ claims: [String: Any],
        _ key: P256.Signing.PrivateKey
    ) throws -> String {
        let text = try unsigned(header, claims)
        return text + "." + base64URL(try key.signature(for: Data(text.utf8)).rawRepresentation)
    }

    /// An assertion for an access token of FCM, with claims that replace the right ones.
    static func assertion(
        _ serviceAccount: String,
        _ claims: [String: Any] = [:],
        signedBy signer: _RSA.Signing.PrivateKey? = nil
    ) throws -> String {
        let account = try JSONSerialization.jsonObject(with: Data(serviceAccount.utf8)) as? [String: String] ?? [:]
        var all: [String: Any] = [
            "iss": account["client_email", default: ""], "aud": account["token_uri", default: ""],
            "scope": "https://www.googleapis.com/auth/firebase.messaging", "iat": now, "exp": now + 3600,
        ]
        all.merge(claims) { $1 }
        let signer = try signer ?? _RSA.Signing.PrivateKey(pemRepresentation: account["private_key", default: ""])
        let text = try unsigned(["alg": "RS256"], all)
        let signature = try signer.signature(for: Data(text.utf8), padding: .insecurePKCS1v1_5)
        return text + "." + base64URL(signature.rawRepresentation)
    }

    private static func unsigned(_ header: [String: String], _ claims: [String: Any]) throws -> String {
        let parts = [try JSONEncoder().encode(header), try JSONSerialization.data(withJSONObject: claims)]
        return parts.map { base64URL($0) }.joined(separator: ".")
    }

    static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func bytes(base64URL text: String) -> Data {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding) ?? Data()
    }
}
