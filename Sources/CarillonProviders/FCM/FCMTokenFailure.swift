import CarillonCore
import NIOHTTP1
import PushHTTP

package enum FCMTokenFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The service account is refused: nobody can send with it until somebody changes something.
    case refused(reason: String)
    /// The token endpoint is not there just now.
    case unavailable(after: Duration?, reason: String)

    /// Nobody was asked: the service account names a server that is neither Google's nor the one that is set instead of it.
    package static let uriNotPermitted = refused(reason: "token_uri not permitted")

    /// What it means for a delivery that cannot be sent without a token: the whole lane waits.
    var outcome: Outcome {
        switch self {
        case .refused(let reason): .misconfigured(reason: reason)
        case .unavailable(let after, let reason): .deferLane(after: after, reason: reason)
        }
    }

    /// The reason: names no secret and no person.
    package var description: String {
        switch self {
        case .refused(let reason), .unavailable(_, let reason): reason
        }
    }

    /// What an answer without a usable token means (RFC 6749 section 5.2).
    init(_ response: OutboundResponse, now: Timestamp) {
        let retryAfter = response.headers.retryAfter(at: now)
        switch response.status {
        case 408, 429:
            self = .unavailable(after: retryAfter, reason: "token endpoint: http \(response.status)")
        case 400..<500:
            let code = Self.errorCode(in: response.body) ?? "http \(response.status)"
            self = .refused(reason: "token endpoint: \(code)")
        case 200..<300:
            self = .unavailable(after: nil, reason: "token endpoint: malformed answer")
        default:
            self = .unavailable(after: retryAfter, reason: "token endpoint: http \(response.status)")
        }
    }

    /// OAuth's own word for what is wrong, such as `invalid_grant`. What stands beside it is free text, and not kept.
    private static func errorCode(in body: [UInt8]) -> String? {
        guard let code = (try? JSONValue(parsing: body))?["error"]?.text, (1...40).contains(code.utf8.count),
            code.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        else { return nil }
        return code
    }
}
