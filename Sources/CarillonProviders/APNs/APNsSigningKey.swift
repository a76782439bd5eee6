import CarillonCore
import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A team's key for provider tokens, from the `.p8` file that Apple gives out.
struct APNsSigningKey: Sendable {
    let teamID: String
    let keyID: String
    private let privateKey: P256.Signing.PrivateKey

    /// - Throws: When the text is no private key on P-256, in PEM.
    init(teamID: String, keyID: String, pem: String) throws {
        self.teamID = teamID
        self.keyID = keyID
        privateKey = try P256.Signing.PrivateKey(pemRepresentation: pem)
    }

    var pem: String { privateKey.pemRepresentation }

    /// What tokens and connections are shared by.
    ///
    /// The key itself is part of it: who only knows another team's ids must not get at tokens that its key has signed.
    var name: String {
        let fingerprint = SHA256.hash(data: privateKey.publicKey.rawRepresentation).prefix(16)
        return "apns/\(teamID)/\(keyID)/" + Self.base64URL(fingerprint)
    }

    /// Signs a provider token: a JWT by ES256 (RFC 7518 section 3.4).
    func token(at time: Timestamp) throws -> ProviderToken {
        let header: JSONValue = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSONValue = ["iss": .string(teamID), "iat": .number(JSONNumber(Int(time.milliseconds / 1_000)))]
        let signed = Self.base64URL(header.serialized) + "." + Self.base64URL(claims.serialized)
        let signature = try privateKey.signature(for: Array(signed.utf8)).rawRepresentation
        return ProviderToken(value: signed + "." + Self.base64URL(signature), issuedAt: time)
    }

    private static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
