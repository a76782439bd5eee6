package import CarillonCore

/// A user's JWT, read but not verified.
package struct UserToken: Sendable {
    /// How far a sender's clock may be ahead of ours; an end is not extended by it.
    static let clockTolerance = Duration.seconds(10)
    /// The audiences that are looked at.
    private static let maximumAudienceCount = 16
    /// What the name of a network stands behind.
    static let audiencePrefix = "carillon:"

    let signed: SignedToken
    /// The networks that it is meant for.
    let networks: [NetworkID]
    let userID: UserID

    private let end: Double

    /// Reads a token; `nil` when it is no JWT, demands what we do not know, or lacks `sub`, `aud` or `exp`.
    init?(_ text: String) {
        guard let signed = SignedToken(text), let userID = signed.text("sub").flatMap(UserID.init), !userID.isReserved,
            let end = signed.end, signed.start != nil
        else { return nil }
        networks = Self.networks(signed.claims["aud"])
        guard !networks.isEmpty else { return nil }
        self.signed = signed
        self.userID = userID
        self.end = end
    }

    /// Whether it is valid at a moment, as far as its own words go.
    func isCurrent(at now: Timestamp) -> Bool {
        !signed.hasEnded(at: now) && signed.hasBegun(at: now, tolerance: Self.clockTolerance)
    }

    /// Whether it lives so long at most: from when it says that it was issued, or from now on.
    func lives(atMost longest: Duration, at now: Timestamp) -> Bool {
        let current = Double(now.milliseconds) / 1000
        let start = SignedToken.seconds(signed.claims["iat"]).map { min($0, current) } ?? current
        return end - start <= longest / .seconds(1) + Self.clockTolerance / .seconds(1)
    }

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

    /// A token of a user, as a network's back end would make it (API section 2).
    package static func signed(
        for user: UserID,
        in network: NetworkID,
        issuedAt start: Timestamp,
        until end: Timestamp,
        by secret: Secret
    ) -> Secret {
        let claims: JSONObject = [
            "sub": .string(user.rawValue), "aud": .string(audiencePrefix + network.rawValue),
            "iat": JSONValue(Int(start.milliseconds / 1_000)), "exp": JSONValue(Int(end.milliseconds / 1_000)),
        ]
        return Secret(JSONWebToken.make(claims, sign: secret.code))
    }
}
