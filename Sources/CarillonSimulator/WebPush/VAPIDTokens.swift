import Crypto
import Foundation
import Synchronization

/// Verifies by whom a message was sent; each signature once.
///
/// - SeeAlso: RFC 8292.
final class VAPIDTokens: Sendable {
    private struct Accepted {
        var key: [UInt8]
        var expires: Double
    }

    private static let maximumLifetime: Double = 24 * 60 * 60
    private static let clockSkew: Double = 60
    private static let limit = 1000
    private let audience: String
    private let accepted = Mutex<[String: Accepted]>([:])

    /// Takes tokens for the push service with this origin.
    init(audience: String) {
        self.audience = audience
    }

    /// Answers the sender's public key.
    func verify(_ authorization: String, now: Double) throws(WebPushProblem) -> [UInt8] {
        if let known = accepted.withLock({ $0[authorization] }) {
            if known.expires <= now { throw WebPushProblem(.unauthorized, "the token has expired") }
            return known.key
        }
        let checked = try check(authorization, now: now)
        accepted.withLock { accepted in
            if accepted.count >= Self.limit { accepted = [:] }
            accepted[authorization] = checked
        }
        return checked.key
    }

    private func check(_ authorization: String, now: Double) throws(WebPushProblem) -> Accepted {
        guard authorization.prefix(6).lowercased() == "vapid " else {
            throw WebPushProblem(.unauthorized, "the scheme is not vapid")
        }
        var parameters: [Substring: String] = [:]
        for parameter in authorization.dropFirst(6).split(separator: ",") {
            let parts = parameter.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
            if parts.count == 2 { parameters[parts[0]] = String(parts[1]) }
        }
        guard let text = parameters["t"], let token = CompactJWT(text), token.header.alg == "ES256" else {
            throw WebPushProblem(.unauthorized, "t is not a token with ES256")
        }
        guard let bytes = parameters["k"].flatMap({ Base64URL.decode($0) }), bytes.count == 65,
            let key = try? P256.Signing.PublicKey(x963Representation: bytes)
        else { throw WebPushProblem(.unauthorized, "k is not a point of P-256") }
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
            key.isValidSignature(signature, for: token.signedBytes)
        else { throw WebPushProblem(.unauthorized, "the signature is wrong") }
        return Accepted(key: bytes, expires: try expiry(of: token.claims, now: now))
    }

    private func expiry(of claims: CompactJWT.Claims, now: Double) throws(WebPushProblem) -> Double {
        guard claims.aud == audience else { throw WebPushProblem(.unauthorized, "aud is not \(audience)") }
        guard let expires = claims.exp, expires > now else {
            throw WebPushProblem(.unauthorized, "the token has expired")
        }
        guard expires <= now + Self.maximumLifetime + Self.clockSkew else {
            throw WebPushProblem(.unauthorized, "exp is more than 24 hours ahead")
        }
        guard let subject = claims.sub, subject.hasPrefix("mailto:") || subject.hasPrefix("https:"),
            !subject.contains("localhost")
        else { throw WebPushProblem(.unauthorized, "sub is neither mailto: nor https:") }
        return expires
    }
}
