import CarillonCore
import Crypto
import CryptoExtras
import Foundation

/// Makes the tokens with which the yardstick shows the push services who it is: JSON Web Tokens (RFC 7519).
struct SignedToken {
    /// What is claimed, by whom and until when.
    let claims: JSONValue
    /// The key's name, where it has one.
    var keyID: String?

    /// Signs with ES256.
    func text(signedWith key: P256.Signing.PrivateKey) throws -> String {
        try text(algorithm: "ES256") { try key.signature(for: $0).rawRepresentation }
    }

    /// Signs with RS256.
    func text(signedWith key: _RSA.Signing.PrivateKey) throws -> String {
        try text(algorithm: "RS256") { try key.signature(for: $0, padding: .insecurePKCS1v1_5).rawRepresentation }
    }

    private func text(algorithm: String, _ sign: (Data) throws -> Data) throws -> String {
        var header = JSONObject()
        header["alg"] = .string(algorithm)
        header["typ"] = "JWT"
        header["kid"] = keyID.map { .string($0) }
        let signed =
            "\(Base64URL.encode(JSONValue.object(header).serialized)).\(Base64URL.encode(claims.serialized))"
        return "\(signed).\(Base64URL.encode(try sign(Data(signed.utf8))))"
    }

    /// A moment as claims have it: seconds since 1970.
    static func time(_ offset: Duration = .zero) -> JSONValue {
        .number(JSONNumber(Int((WallClock.system.now() + offset).milliseconds / 1000)))
    }
}
