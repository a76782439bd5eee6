import CarillonCore

/// What FCM wants to see with every message; good for an hour.
struct FCMAccessToken: Sendable, Equatable {
    /// The longest lifetime that is believed.
    static let longestLifetime = Duration.seconds(3_600)
    /// When the answer does not say how long: short enough to be safe, long enough not to ask all the time.
    private static let assumedLifetime = 600
    /// How long before its end a token is renewed; of a short-lived one, half of its life.
    private static let margin = Duration.seconds(300)
    private static let maximumBytes = 4_096

    let value: Secret
    let renewAt: Timestamp
    let expiresAt: Timestamp

    /// Reads the answer of a token endpoint, which is not trusted: the token goes into a header.
    ///
    /// `nil` when it is not a bearer token with a positive lifetime.
    /// - SeeAlso: RFC 6749 section 5.1, RFC 6750 section 2.1.
    init?(answer body: [UInt8], requestedAt: Timestamp) {
        guard let document = try? JSONValue(parsing: body) else { return nil }
        let errors = InputErrors()
        var reader = JSONObjectReader(document, unknown: .tolerate, into: errors)
        let type = reader.string("token_type") ?? "Bearer"
        let text = reader.string("access_token", required: true, maximumBytes: Self.maximumBytes, nonEmpty: true)
        let seconds = reader.integer("expires_in", in: 1...Int(Int32.max)) ?? Self.assumedLifetime
        guard errors.isEmpty, let text, type.lowercased() == "bearer" else { return nil }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        let lifetime = min(.seconds(seconds), Self.longestLifetime)
        value = Secret(text)
        expiresAt = requestedAt + lifetime
        renewAt = expiresAt - min(Self.margin, lifetime / 2)
    }
}
