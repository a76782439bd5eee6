import CarillonCore
import Crypto

/// A team's key for provider tokens, from the `.p8` file that Apple gives out.
struct APNsSigningKey: Sendable {
    let teamID: String
    let keyID: String
    /// What tokens and connections are shared by: asked for each notification.
    ///
    /// The key itself is part of it: who only knows another team's ids must not get at tokens that its key has signed.
    let name: String
    private let privateKey: P256.Signing.PrivateKey

    /// - Throws: When the text is no private key on P-256, in PEM.
    init(teamID: String, keyID: String, pem: String) throws {
        self.teamID = teamID
        self.keyID = keyID
        privateKey = try P256.Signing.PrivateKey(pemRepresentation: pem)
        let fingerprint = SHA256.hash(data: privateKey.publicKey.rawRepresentation).prefix(16)
        name = "apns/\(teamID)/\(keyID)/" + Base64URL.encode(fingerprint)
    }

    var pem: String { privateKey.pemRepresentation }

    /// Signs a provider token: a JWT by ES256 (RFC 7518 section 3.4).
    func token(at time: Timestamp) throws -> ProviderToken {
        let header: JSONValue = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSONValue = ["iss": .string(teamID), "iat": JSONValue(Int(time.milliseconds / 1_000))]
        let token = try JSONWebToken.make(claims, header: header) {
            try privateKey.signature(for: $0).rawRepresentation
        }
        return ProviderToken(value: token, issuedAt: time)
    }
}
