package import CarillonCore
import Crypto

/// A JWT (RFC 7519) in its compact form, read but not verified.
package struct SignedToken: Sendable {
    /// Longer than any token that is worth reading.
    package static let maximumBytes = 8_192

    /// The algorithm that the header names, which has to be that of the verifier's key.
    package let algorithm: String
    /// What the header calls the key.
    package let keyID: String?
    package let claims: JSONObject
    package let signedBytes: [UInt8]
    package let signature: [UInt8]

    /// Reads a token; `nil` when it is none, or demands what is not known here (`crit`).
    package init?(_ text: String) {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maximumBytes, segments.count == 3,
            let signature = Base64URL.decode(segments[2]), let header = Self.object(segments[0]),
            let claims = Self.object(segments[1]), let algorithm = header["alg"]?.text, header["crit"] == nil
        else { return nil }
        self.algorithm = algorithm
        keyID = header["kid"]?.text
        self.claims = claims
        self.signature = signature
        signedBytes = Array(segments[0]) + [UInt8(ascii: ".")] + Array(segments[1])
    }

    static func object(_ segment: Substring.UTF8View) -> JSONObject? {
        guard let bytes = Base64URL.decode(segment), case .object(let object)? = try? JSONValue(parsing: bytes) else {
            return nil
        }
        return object
    }

    /// A moment, in seconds since 1970.
    static func seconds(_ value: JSONValue?) -> Double? {
        if case .number(let number)? = value { number.double } else { nil }
    }

    package func text(_ claim: String) -> String? { claims[claim]?.text }

    /// When it ends, in seconds since 1970.
    package var end: Double? { Self.seconds(claims["exp"]) }

    /// When it begins to hold: 0 where it does not say, `nil` where what it says is no moment.
    package var start: Double? {
        guard let first = Self.seconds(claims["nbf"] ?? 0), let issued = Self.seconds(claims["iat"] ?? 0) else {
            return nil
        }
        return max(first, issued)
    }

    /// Whether it has ended, or does not say when it does.
    package func hasEnded(at now: Timestamp) -> Bool { end.map { Double(now.milliseconds) / 1_000 >= $0 } ?? true }

    /// Whether it holds from now on: a sender's clock may be ahead of ours by so much.
    package func hasBegun(at now: Timestamp, tolerance: Duration) -> Bool {
        start.map { $0 <= Double((now + tolerance).milliseconds) / 1_000 } ?? false
    }
}

extension Secret {
    private var key: SymmetricKey { reveal { SymmetricKey(data: Array($0.utf8)) } }

    /// The code by which its holders recognise bytes (HMAC-SHA256, RFC 2104).
    package func code(of bytes: [UInt8]) -> [UInt8] { Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key)) }

    /// Whether a code is that of bytes; takes the same time wherever they differ.
    package func isCode(_ code: [UInt8], of bytes: [UInt8]) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
    }
}
