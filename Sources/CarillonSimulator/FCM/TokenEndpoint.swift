import _CryptoExtras
import Foundation
import Synchronization

/// Google's endpoint for access tokens: takes assertions that a service account has signed (RFC 7523).
final class TokenEndpoint: Sendable {
    private struct Refusal: Error {
        var code: String
        var description: String
    }

    private struct State {
        var expiries: [String: Duration] = [:]
        var issued = 0
    }

    private static let scopes = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    private static let maximumLifetime: Double = 3600
    private static let clockSkew: Double = 300
    private static let limit = 10_000
    private let account: ServiceAccount
    private let lifetime: Duration
    private let traffic: Traffic
    private let state = Mutex(State())

    init(account: ServiceAccount, lifetime: Duration, traffic: Traffic) {
        self.account = account
        self.lifetime = lifetime
        self.traffic = traffic
    }

    var issued: Int { state.withLock { $0.issued } }

    func revokeAll() {
        state.withLock { $0.expiries = [:] }
    }

    func isValid(_ token: some StringProtocol, now: Duration) -> Bool {
        state.withLock { state in state.expiries[String(token)].map { now < $0 } ?? false }
    }

    func reply(to request: Request) -> Reply {
        let condition = traffic.next()
        let answer: Answer
        switch condition.verdict {
        case .refusal: return Reply(manner: .refusal)
        case .silence: return Reply(manner: .silence)
        case .storm(let status, let retryAfter):
            let headers = retryAfter.map { [("retry-after", $0)] } ?? []
            answer = Answer(status, headers: headers, json: #"{"error":"temporarily_unavailable"}"#)
        case .normal:
            do throws(Refusal) {
                answer = try grant(request, now: UnixTime.now())
            } catch {
                let object = ["error": error.code, "error_description": error.description]
                answer = Answer(400, json: JSONText.text(object))
            }
        }
        return Reply(manner: .answer(answer), delay: condition.delay)
    }

    private func grant(_ request: Request, now: Duration) throws(Refusal) -> Answer {
        let form = Self.form(String(decoding: request.bytes, as: UTF8.self))
        guard request.method == "POST", form["grant_type"] == Self.grantType else {
            throw Refusal(code: "unsupported_grant_type", description: "Invalid grant_type")
        }
        guard let assertion = form["assertion"], let token = CompactJWT(assertion) else {
            throw Refusal(code: "invalid_request", description: "Bad assertion")
        }
        try check(token, now: Double(now.wholeSeconds))
        let accessToken = "ya29.\(SimulatedToken.random())"
        state.withLock { state in
            if state.expiries.count >= Self.limit { state.expiries = state.expiries.filter { now < $0.value } }
            state.expiries[accessToken] = now + lifetime
            state.issued += 1
        }
        let object: JSONText.Object = [
            "access_token": accessToken, "expires_in": Int(lifetime.wholeSeconds), "token_type": "Bearer",
        ]
        return Answer(200, json: JSONText.text(object))
    }

    private func check(_ token: CompactJWT, now: Double) throws(Refusal) {
        let signature = _RSA.Signing.RSASignature(rawRepresentation: token.signature)
        guard token.header.alg == "RS256", token.claims.iss == account.clientEmail else {
            throw Refusal(code: "invalid_grant", description: "Invalid grant: account not found")
        }
        let padding = _RSA.Signing.Padding.insecurePKCS1v1_5
        guard let key = account.publicKey,
            key.isValidSignature(signature, for: token.signedBytes, padding: padding)
        else {
            throw Refusal(code: "invalid_grant", description: "Invalid JWT Signature.")
        }
        guard token.claims.aud == account.tokenURL else {
            throw Refusal(code: "invalid_grant", description: "Invalid JWT: Failed audience check.")
        }
        guard let issued = token.claims.iat, let expires = token.claims.exp, expires > now,
            expires - issued <= Self.maximumLifetime, issued <= now + Self.clockSkew
        else {
            throw Refusal(
                code: "invalid_grant",
                description: "Invalid JWT: Token must be short-lived (60 minutes) and in a reasonable timeframe."
            )
        }
        let scopes = (token.claims.scope ?? "").split(separator: " ")
        guard scopes.contains(where: { Self.scopes.contains(String($0)) }) else {
            throw Refusal(code: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.")
        }
    }

    /// The members of an `application/x-www-form-urlencoded` body.
    private static func form(_ text: String) -> [String: String] {
        var form: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            if parts.count == 2 { form[parts[0]] = parts[1] }
        }
        return form
    }
}
