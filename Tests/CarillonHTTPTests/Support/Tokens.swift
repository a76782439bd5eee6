import CarillonCore
import Crypto
import Foundation

/// Makes user tokens by hand, so that the wrong ones can be made too.
enum Tokens {
    /// Claims that are right for a user of a network.
    static func claims(
        sub: String = "alice",
        network: String = "acme",
        expiresIn seconds: Int64 = 600,
        more: String = ""
    ) -> String {
        let expiry = TestAPI.now.milliseconds / 1000 + seconds
        return #"{"sub":"\#(sub)","aud":"carillon:\#(network)","exp":\#(expiry)\#(more)}"#
    }

    static func hs256(_ claims: String, secret: String, header: String = #"{"alg":"HS256","typ":"JWT"}"#) -> String {
        let signed = base64URL(header.utf8) + "." + base64URL(claims.utf8)
        let key = SymmetricKey(data: Array(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key)
        return signed + "." + base64URL(code)
    }

    static func es256(_ claims: String, key: P256.Signing.PrivateKey, der: Bool = false) throws -> String {
        let signed = base64URL(#"{"alg":"ES256"}"#.utf8) + "." + base64URL(claims.utf8)
        let signature = try key.signature(for: Array(signed.utf8))
        return signed + "." + base64URL(der ? signature.derRepresentation : signature.rawRepresentation)
    }

    static func unsigned(_ claims: String) -> String {
        base64URL(#"{"alg":"none"}"#.utf8) + "." + base64URL(claims.utf8) + "."
    }

    static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}

extension Credentials {
    func token(for user: String = "alice") -> String {
        Tokens.hs256(Tokens.claims(sub: user, network: id), secret: userTokenSecret)
    }

    /// The headers that sign a body.
    func signature(of body: String, id: String = "msg-1", at moment: Timestamp = TestAPI.now) throws -> [String: String]
    {
        let seconds = moment.milliseconds / 1000
        let secret = WebhookSecret(webhookSecret).map { [$0] } ?? []
        return [
            "webhook-id": id,
            "webhook-timestamp": "\(seconds)",
            "webhook-signature": WebhookSignature.sign(
                id: id,
                timestamp: seconds,
                body: Array(body.utf8),
                secrets: secret
            ),
        ]
    }
}
