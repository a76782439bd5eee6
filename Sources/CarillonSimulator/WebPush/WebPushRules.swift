import NIOHPACK

/// What a push service demands of a message's headers and length (RFC 8030 section 5, RFC 8291 section 4).
enum WebPushRules {
    private static let maximumBytes = 4096
    private static let maximumTopicLength = 32
    private static let urgencies = ["very-low", "low", "normal", "high"]

    /// Throws what is wrong, with a text for people.
    static func check(_ request: Request) throws(WebPushProblem) {
        if request.method != "POST" { throw WebPushProblem(.badRequest, "messages are posted") }
        let lifetimes = request.headers["ttl"]
        guard lifetimes.count == 1, UInt32(lifetimes[0]) != nil else {
            throw WebPushProblem(.badRequest, "TTL must be a number of seconds")
        }
        let urgency = request.headers["urgency"]
        guard urgency.isEmpty || urgency.count == 1 && urgencies.contains(urgency[0]) else {
            throw WebPushProblem(.badRequest, "Urgency must be one of \(urgencies)")
        }
        let topics = request.headers["topic"]
        guard topics.allSatisfy({ (1...maximumTopicLength).contains($0.utf8.count) && Base64URL.decode($0) != nil }),
            topics.count <= 1
        else { throw WebPushProblem(.badRequest, "Topic must be 1 to 32 characters of base64url") }
        if request.bodyLength > maximumBytes { throw WebPushProblem(.tooLarge, "at most \(maximumBytes) bytes") }
        guard request.headers.first(name: "content-encoding") == "aes128gcm" else {
            throw WebPushProblem(.badRequest, "Content-Encoding must be aes128gcm")
        }
    }
}

/// A refusal with its explanation.
struct WebPushProblem: Error {
    let refusal: WebPushRefusal
    let text: String

    init(_ refusal: WebPushRefusal, _ text: String) {
        self.refusal = refusal
        self.text = text
    }
}

/// Why a push service refuses a message.
///
/// The raw value is the word that the last part of an endpoint begins with to get this.
/// - SeeAlso: RFC 8030, RFC 8292 section 4.2.
package enum WebPushRefusal: String, Error, CaseIterable, Sendable {
    /// 404: the subscription has expired.
    case notFound = "not-found"
    /// 410: the user has unsubscribed.
    case gone
    /// 400: a header is missing or wrong.
    case badRequest = "bad-request"
    /// 401: the authorization is missing or cannot be verified.
    case unauthorized
    /// 403: the subscription was made with another key.
    case forbidden
    /// 413: the message is too large.
    case tooLarge = "too-large"
    /// 429 with `Retry-After: 60`.
    case tooMany = "too-many"
    case `internal`
    case badGateway = "bad-gateway"
    /// 503 with `Retry-After: 10`.
    case unavailable
    /// 307 to another endpoint.
    case redirect

    /// What the last part of an endpoint begins with to get this.
    package var tokenPrefix: String { rawValue }

    var answer: Answer { answer(rawValue) }

    /// The answer with what is said about it, as plain text.
    func answer(_ text: String) -> Answer {
        switch self {
        case .notFound: Answer(404, type: "text/plain", text: text)
        case .gone: Answer(410, type: "text/plain", text: text)
        case .badRequest: Answer(400, type: "text/plain", text: text)
        case .unauthorized: Answer(401, headers: [("www-authenticate", "vapid")], type: "text/plain", text: text)
        case .forbidden: Answer(403, type: "text/plain", text: text)
        case .tooLarge: Answer(413, type: "text/plain", text: text)
        case .tooMany: Answer(429, headers: [("retry-after", "60")], type: "text/plain", text: text)
        case .internal: Answer(500, type: "text/plain", text: text)
        case .badGateway: Answer(502, type: "text/plain", text: text)
        case .unavailable: Answer(503, headers: [("retry-after", "10")], type: "text/plain", text: text)
        case .redirect: Answer(307, headers: [("location", "/push/elsewhere")], type: "text/plain", text: text)
        }
    }
}
