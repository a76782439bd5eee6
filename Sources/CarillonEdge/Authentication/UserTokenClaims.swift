import CarillonCore

/// What a refused user token says of itself, for whoever bears it: which claim is wrong, what it has to be and what it is.
///
/// Nothing in it is a secret of the network's: all of it stands in the token or in the path that was asked for.
struct UserTokenClaims: Sendable {
    private static let noToken = "the token is no JWT"
    private static let longestValue = 100

    private let claims: JSONObject?

    /// Reads what can be read; the signature is not looked at.
    init(_ text: String) {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let hasHeader = segments.count == 3 && SignedToken.object(segments[0]) != nil
        claims = hasHeader ? SignedToken.object(segments[1]) : nil
    }

    /// Whether it has the form of a JWT.
    var isToken: Bool { claims != nil }

    /// The first thing that is wrong with the claims: what it has to be, and what it is; `nil` where all are right. Where the path names no
    /// network, the token itself has to say which.
    func mistake(in network: NetworkID?, at now: Timestamp) -> String? {
        guard let claims else { return Self.noToken }
        return subjectMistake(claims["sub"]) ?? audienceMistake(claims["aud"], network)
            ?? expiryMistake(claims["exp"], at: now) ?? startMistake("nbf", claims["nbf"], at: now)
            ?? startMistake("iat", claims["iat"], at: now)
    }

    private func subjectMistake(_ value: JSONValue?) -> String? {
        guard let value else { return #""sub" is missing"# }
        if case .string(let text) = value, let id = UserID(text), !id.isReserved { return nil }
        return #""sub" must be a user's id, is \#(Self.shown(value))"#
    }

    private func audienceMistake(_ value: JSONValue?, _ network: NetworkID?) -> String? {
        let expected =
            network.map { JSONValue.string(UserToken.audiencePrefix + $0.rawValue).serializedText }
            ?? #""\#(UserToken.audiencePrefix)" and a network's id"#
        guard let value else { return #""aud" is missing, must be \#(expected)"# }
        let named = UserToken.networks(value)
        if network.map({ named.contains($0) }) ?? !named.isEmpty { return nil }
        return #""aud" must be \#(expected), is \#(Self.shown(value))"#
    }

    private func expiryMistake(_ value: JSONValue?, at now: Timestamp) -> String? {
        guard let value else { return #""exp" is missing"# }
        guard let end = SignedToken.seconds(value) else { return Self.noMoment("exp", value) }
        let late = Double(now.milliseconds) / 1_000 - end
        return late < 0 ? nil : "expired \(Self.whole(late)) s ago"
    }

    private func startMistake(_ name: String, _ value: JSONValue?, at now: Timestamp) -> String? {
        guard let value else { return nil }
        guard let start = SignedToken.seconds(value) else { return Self.noMoment(name, value) }
        let early = start - Double(now.milliseconds) / 1_000
        guard early > UserToken.clockTolerance / .seconds(1) else { return nil }
        return #""\#(name)" is \#(Self.whole(early)) s ahead of the service's clock"#
    }

    private static func noMoment(_ name: String, _ value: JSONValue) -> String {
        #""\#(name)" must be a number of seconds since 1970, is \#(shown(value))"#
    }

    private static func whole(_ seconds: Double) -> Int { Int(min(seconds, 1e15)) }

    private static func shown(_ value: JSONValue) -> String {
        let text = value.serializedText
        return text.count <= longestValue ? text : "\(text.prefix(longestValue))…"
    }
}
