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
