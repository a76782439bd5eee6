import CarillonCore

/// Why a request got no answer; the raw value is the reason that a delivery shows.
package enum OutboundError: String, Error, Sendable, CaseIterable {
    case timedOut = "timeout"
    case nameNotFound = "name not found"
    /// The name servers did not answer, or with an error.
    case lookupFailed = "name lookup failed"
    case connectionRefused = "connection refused"
    /// No connection came about for another reason.
    case unreachable = "unreachable"
    /// TLS failed, such as by a certificate that is not trusted, expired, or for another name.
    case tlsFailed = "tls failed"
    /// The connection ended before the answer did.
    case connectionClosed = "connection closed"
    /// The server ended this one request without an answer.
    case reset = "stream reset"
    /// The server refused the request unread, as often as it was sent.
    case refused = "stream refused"
    /// Too many requests are waiting for the same host.
    case busy = "too many requests waiting"
    case malformedAnswer = "malformed answer"
    /// The answer's head is too long.
    case answerTooLong = "answer too long"
}

extension OutboundError {
    /// The reason that is shown for whatever a transport throws.
    package static func reason(for error: any Error) -> String {
        switch error {
        case let refusal as EgressRefusal: refusal.rule.rawValue
        case let error as OutboundError: error.rawValue
        default: "failed"
        }
    }
}
