import CarillonCore
import CarillonEdge
import Crypto

/// A JWT (RFC 7519) in Ably's form, read but not verified: what `requestToken` answers, what customers' own servers make, and what
/// devices prove themselves by.
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
    /// Longer than any token that is worth reading.
    static let maximumBytes = 8_192

    /// The name of the key that signed it; of an application, where Carillon did.
    let keyName: String
    /// What it says.
    let claims: JSONObject
    /// When it ends, in seconds since 1970.
    let expires: Double
    private let signedBytes: [UInt8]
    private let signature: [UInt8]
    private let start: Double

    /// Reads a token; `nil` when it is no JWT of HS256, demands what is not known here (`crit`), or names no key or end.
    init?(_ text: String) {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maximumBytes, segments.count == 3,
            let signature = Base64URL.decode(segments[2]), let header = Self.object(segments[0]),
            let claims = Self.object(segments[1]), header["alg"] == "HS256", header["crit"] == nil,
            case .string(let keyName)? = header["kid"], case .number(let expires)? = claims["exp"],
            let expires = expires.double, let issued = Self.seconds(claims["iat"]),
            let first = Self.seconds(claims["nbf"])
        else { return nil }
        self.keyName = keyName
        self.claims = claims
        self.expires = expires
        self.signature = signature
        start = max(issued, first)
        signedBytes = Array(segments[0]) + [UInt8(ascii: ".")] + Array(segments[1])
    }

    func string(_ claim: String) -> String? { if case .string(let text)? = claims[claim] { text } else { nil } }

    /// Whether it speaks for a device; only Carillon signs such.
    var isOfDevice: Bool { claims.contains(Claim.device) }

    /// Whether the holder of a key signed it; takes the same time wherever the signatures differ.
    func isSigned(with secret: Secret) -> Bool {
        secret.reveal { secret in
            HMAC<SHA256>.isValidAuthenticationCode(
                signature,
                authenticating: signedBytes,
                using: SymmetricKey(data: Array(secret.utf8))
            )
        }
    }

    /// Whether Carillon signed it.
    func isSigned(with secret: FaceSecret) -> Bool { secret.verifies(signature, of: signedBytes, for: .ably) }

    /// Whether it has ended.
    func hasExpired(at now: Timestamp) -> Bool { Double(now.milliseconds) / 1000 >= expires }

    /// Whether it is of a time that is yet to come.
    func isOfTheFuture(at now: Timestamp) -> Bool {
        start > Double((now + Self.clockTolerance).milliseconds) / 1000
    }

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - keyName: What the verifier finds the key by.
    ///   - claims: What it says.
    ///   - sign: Signs it.
    /// - Returns: Its compact form.
    static func make(keyName: String, claims: JSONObject, sign: ([UInt8]) -> [UInt8]) -> String {
        let header: JSONValue = ["typ": "JWT", "alg": "HS256", "kid": .string(keyName)]
        let text = Base64URL.encode(header.serialized) + "." + Base64URL.encode(JSONValue.object(claims).serialized)
        return text + "." + Base64URL.encode(sign(Array(text.utf8)))
    }

    /// Makes a token that a key signs.
    static func make(keyName: String, claims: JSONObject, secret: Secret) -> String {
        make(keyName: keyName, claims: claims) { bytes in
            secret.reveal { secret in
                Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: Array(secret.utf8))))
            }
        }
    }

    private static func object(_ segment: Substring.UTF8View) -> JSONObject? {
        guard let bytes = Base64URL.decode(segment), case .object(let object)? = try? JSONValue(parsing: bytes) else {
            return nil
        }
        return object
    }

    /// A moment that may be missing; `nil` for what is none.
    private static func seconds(_ value: JSONValue?) -> Double? {
        switch value {
        case nil: 0
        case .number(let number): number.double
        default: nil
        }
    }
}
