import CarillonCore

/// A user's JWT (RFC 7519) in its compact form, read but not verified.
package struct UserToken: Sendable {
    /// How far a sender's clock may be ahead of ours; an end is not extended by it.
    static let clockTolerance = Duration.seconds(10)
    /// The audiences that are looked at.
    private static let maximumAudienceCount = 16
    /// What the name of a network stands behind.
    static let audiencePrefix = "carillon:"

    /// The algorithm that the header names, which has to be that of the stored key.
    let algorithm: String
    let signedBytes: [UInt8]
    let signature: [UInt8]
    /// The networks that it is meant for.
    let networks: [NetworkID]
    /// Whom it speaks for.
    let userID: UserID

    private let expiresAt: Double
    private let notBefore: Double
    private let issuedAt: Double
    private let namesIssue: Bool

    /// Reads a token; `nil` when it is no JWT, demands what we do not know (`crit`), or lacks `sub`, `aud` or `exp`.
    init?(_ text: String) {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3, let signature = Base64URL.decode(segments[2]),
            let header = Self.object(segments[0]), let claims = Self.object(segments[1]),
            case .string(let algorithm)? = header["alg"], header["crit"] == nil,
            case .string(let subject)? = claims["sub"], let userID = UserID(subject), !userID.isReserved,
            let expiresAt = Self.seconds(claims["exp"]),
            let notBefore = Self.seconds(claims["nbf"] ?? 0), let issuedAt = Self.seconds(claims["iat"] ?? 0)
        else { return nil }
        networks = Self.networks(claims["aud"])
        guard !networks.isEmpty else { return nil }
        self.algorithm = algorithm
        self.signature = signature
        self.userID = userID
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.issuedAt = issuedAt
        namesIssue = claims["iat"] != nil
        signedBytes = Array(segments[0]) + [UInt8(ascii: ".")] + Array(segments[1])
    }

    /// Whether it is valid at a moment, as far as its own words go.
    func isCurrent(at now: Timestamp) -> Bool {
        let seconds = Double(now.milliseconds) / 1000
        let latestStart = Double((now + Self.clockTolerance).milliseconds) / 1000
        return seconds < expiresAt && notBefore <= latestStart && issuedAt <= latestStart
    }

    /// Whether it lives so long at most: from when it says that it was issued, or from now on.
    func lives(atMost longest: Duration, at now: Timestamp) -> Bool {
        let current = Double(now.milliseconds) / 1000
        let start = namesIssue ? min(issuedAt, current) : current
        return expiresAt - start <= longest / .seconds(1) + Self.clockTolerance / .seconds(1)
    }

    /// A part of a token.
    static func object(_ segment: Substring.UTF8View) -> JSONObject? {
        guard let bytes = Base64URL.decode(segment), case .object(let object)? = try? JSONValue(parsing: bytes) else {
            return nil
        }
        return object
    }

    /// A moment, in seconds since 1970.
    static func seconds(_ value: JSONValue?) -> Double? {
        guard case .number(let number)? = value else { return nil }
        return number.double
    }

    /// The networks that an audience names.
    static func networks(_ audience: JSONValue?) -> [NetworkID] {
        let audiences: [JSONValue] =
            switch audience {
            case .array(let audiences)?: audiences
            case let audience?: [audience]
            case nil: []
            }
        return audiences.prefix(maximumAudienceCount).compactMap { audience in
            guard case .string(let text) = audience, text.hasPrefix(audiencePrefix) else { return nil }
            return NetworkID(String(text.dropFirst(audiencePrefix.count)))
        }
    }
}
