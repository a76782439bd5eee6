import _CryptoExtras
import CarillonSimulator
import Crypto
import Foundation

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
