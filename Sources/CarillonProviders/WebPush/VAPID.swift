import CarillonCore
import Crypto
import Synchronization

/// Makes the `Authorization` header that tells a push service who sends, and remembers it for each of them.
///
/// - SeeAlso: RFC 8292 section 2.
final class VAPID: Sendable {
    private struct Key: Hashable {
        var origin: String
        var subject: String?
        var publicKey: String
    }

    private struct Token {
        var header: String
        var issuedAt: Timestamp
    }

    /// How long a token is used.
    static let reuse = Duration.seconds(12 * 3_600)
    /// How long it is good for. The RFC allows 24 h; the rest is for clocks that differ from ours.
    static let lifetime = Duration.seconds(18 * 3_600)
    /// Users choose the origins: beyond this all are forgotten, and made anew when needed.
    private static let maximumCount = 10_000

    private let clock: WallClock
    private let tokens = Mutex<[Key: Token]>([:])

    init(clock: WallClock) {
        self.clock = clock
    }

    /// The value of `Authorization` for requests to an origin.
    ///
    /// Signing takes some 15 µs, so that those who need the same token at once may well wait for it.
    func authorization(for origin: String, by credential: WebPushCredential) throws -> String {
        let key = Key(origin: origin, subject: credential.subject, publicKey: credential.publicKey)
        let now = clock.now()
        return try tokens.withLock { tokens in
            if let token = tokens[key], token.issuedAt <= now, now - token.issuedAt < Self.reuse { return token.header }
            if tokens.count >= Self.maximumCount { tokens = [:] }
            let header = "vapid t=\(try Self.token(for: origin, by: credential, now: now)), k=\(credential.publicKey)"
            tokens[key] = Token(header: header, issuedAt: now)
            return header
        }
    }

    /// Forgets a token that was refused, so that the next request brings a new one.
    func forget(_ origin: String, by credential: WebPushCredential) {
        let key = Key(origin: origin, subject: credential.subject, publicKey: credential.publicKey)
        _ = tokens.withLock { $0.removeValue(forKey: key) }
    }

    private static func token(for origin: String, by credential: WebPushCredential, now: Timestamp) throws -> String {
        let header: JSONValue = ["typ": "JWT", "alg": "ES256"]
        let claims: JSONValue = [
            "aud": .string(origin), "exp": JSONValue(Int((now + lifetime).milliseconds / 1_000)),
            "sub": credential.subject.map(JSONValue.string),
        ]
        return try JSONWebToken.make(claims, header: header) { try credential.key.signature(for: $0).rawRepresentation }
    }
}
