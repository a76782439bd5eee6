import CarillonCore
import CarillonEdge

/// A token in Ably's form, read but not verified: what `requestToken` answers, what customers' own servers make, and what devices prove
/// themselves by.
struct AblyToken: Sendable {
    /// The claims by which Ably's tokens say what JWT has no words for.
    enum Claim {
        static let capability = "x-ably-capability"
        static let client = "x-ably-clientId"
        static let device = "x-ably-deviceId"
        static let network = "x-carillon-network"
    }

    /// How far a sender's clock may be ahead of ours.
    private static let clockTolerance = Duration.seconds(60)

    /// The name of the key that signed it; of an application, where Carillon did.
    let keyName: String
    let signed: SignedToken

    /// Reads a token as it is, or in base64; `nil` when it is no JWT of HS256, or names no key or end.
    init?(_ text: String) {
        guard let signed = SignedToken(text) ?? Base64URL.text(text).flatMap(SignedToken.init),
            signed.algorithm == "HS256", let keyName = signed.keyID, signed.end != nil, signed.start != nil
        else { return nil }
        self.keyName = keyName
        self.signed = signed
    }

    /// Whether it speaks for a device; only Carillon signs such.
    var isOfDevice: Bool { signed.claims.contains(Claim.device) }

    func isOfTheFuture(at now: Timestamp) -> Bool { !signed.hasBegun(at: now, tolerance: Self.clockTolerance) }

    static func make(keyName: String, claims: JSONObject, sign: ([UInt8]) -> [UInt8]) -> String {
        JSONWebToken.make(.object(claims), header: ["typ": "JWT", "alg": "HS256", "kid": .string(keyName)], sign: sign)
    }
}
