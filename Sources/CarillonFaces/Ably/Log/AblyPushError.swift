import CarillonCore

/// Why a push did not arrive, in Ably's codes.
struct AblyPushError: Sendable, Equatable {
    /// Ably's code.
    var code: Int
    /// The status that goes with it.
    var status: Int
    /// What is wrong.
    var message: String

    static let expired = AblyPushError(
        code: 103001,
        status: 500,
        message: "the push expired before it could be delivered"
    )
    static let malformed = AblyPushError(code: 103003, status: 400, message: "the push service cannot take such a push")
    static let rejected = AblyPushError(code: 103004, status: 400, message: "the push service refused it")
    static let tokenInvalid = AblyPushError(code: 103005, status: 400, message: "the device's token is not valid")
    static let notConfigured = AblyPushError(
        code: 103006,
        status: 400,
        message: "there are no credentials for the push service"
    )
    static let unreachable = AblyPushError(code: 103007, status: 500, message: "the push service could not be reached")
    static let credentialsRefused = AblyPushError(
        code: 103008,
        status: 400,
        message: "the credentials for the push service are not accepted"
    )
    static let notEnabled = AblyPushError(
        code: 103009,
        status: 400,
        message: "push is not enabled on this channel: see the namespaces of this application's binding"
    )
    static let gone = AblyPushError(code: 41001, status: 410, message: "the device's registration is gone")

    /// Why a delivery was given up, by Carillon's words for it.
    static func givenUp(because reason: String?) -> AblyPushError {
        let words = reason?.lowercased() ?? ""
        func tell(_ parts: [String]) -> Bool { parts.contains { words.contains($0) } }
        // Tokens before topics: of one that is another app's both are said.
        if tell(["token", "subscription", "not an apns", "not an fcm", "not a web push"]) {
            return tokenInvalid.because(reason)
        }
        let isMalformed = tell([
            "payload", "too large", "413", "invalid_argument", "apns-topic", "badcollapseid", "badexpirationdate",
            "badmessageid", "badpriority", "duplicateheaders", "invalidpushtype",
        ])
        return (isMalformed ? malformed : rejected).because(reason)
    }

    /// Why a lane is paused, by Carillon's words for it.
    static func paused(because reason: String?) -> AblyPushError {
        let words = reason?.lowercased() ?? ""
        func tell(_ parts: [String]) -> Bool { parts.contains { words.contains($0) } }
        if tell(["no credential", "no subject"]) { return notConfigured.because(reason) }
        let isRefused = tell([
            "providertoken", "provider token", "keyid", "certificate", "topic", "forbidden", "http 401", "http 403",
            "unauthenticated", "permission_denied", "not_found", "auth", "sender_id", "credential", "private key",
            "invalid_grant", "invalid_client", "token_uri",
        ])
        return (isRefused ? credentialsRefused : unreachable).because(reason)
    }

    /// The error with what is known of it besides: such words hold no token and no text.
    func because(_ reason: String?) -> AblyPushError {
        guard let reason else { return self }
        return AblyPushError(code: code, status: status, message: "\(message): \(reason)")
    }

    /// What a device's last error is, by Carillon's words for it.
    static func failing(for error: String) -> AblyPushError {
        let words = error.lowercased()
        let isAway = ["connect", "reach", "timeout", "timed out", "unavailable", "lookup", "look up", "resolve", "5"]
            .contains {
                $0 == "5" ? words.hasPrefix("5") : words.contains($0)
            }
        return isAway ? .unreachable : .rejected
    }

    /// The error as clients read it.
    var json: JSONValue {
        [
            "code": .number(JSONNumber(code)), "statusCode": .number(JSONNumber(status)), "message": .string(message),
        ]
    }
}
