import CarillonCore
import CryptoExtras

/// A signed statement that we are a service account, to be exchanged for an access token.
///
/// - SeeAlso: RFC 7523 section 2.1; Google's "Using OAuth 2.0 for Server to Server Applications".
enum FCMAssertion {
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// How long an assertion is good for: the longest that Google takes.
    static let lifetime = Duration.seconds(3_600)

    /// The assertion as a JSON Web Token (RS256).
    static func token(for credential: FCMCredential, now: Timestamp) throws -> String {
        let header: JSONValue = [
            "alg": "RS256", "typ": "JWT", "kid": credential.account.keyID.map(JSONValue.string),
        ]
        let issuedAt = Int(now.milliseconds / 1_000)
        let claims: JSONValue = [
            "iss": .string(credential.clientEmail),
            "scope": .string(scope),
            "aud": .string(credential.account.tokenURI),
            "iat": JSONValue(issuedAt),
            "exp": JSONValue(issuedAt + Int(lifetime.components.seconds)),
        ]
        return try JSONWebToken.make(claims, header: header) { signed in
            try credential.key.signature(for: signed, padding: .insecurePKCS1v1_5).rawRepresentation
        }
    }

    /// The body of the request that exchanges it.
    static func form(_ token: String) -> [UInt8] {
        // A token needs no escaping: its letters are those of base64url and dots.
        Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(token)".utf8)
    }
}
