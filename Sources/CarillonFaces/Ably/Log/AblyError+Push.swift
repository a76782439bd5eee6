import CarillonCore
import HTTPTypes

/// Why a push did not arrive, in Ably's codes.
extension AblyError {
    static let pushExpired = AblyError(
        .internalServerError,
        103001,
        "the push expired before it could be delivered"
    )
    static let unfit = AblyError(.badRequest, 103003, "the push service cannot take such a push")
    static let rejected = AblyError(.badRequest, 103004, "the push service refused it")
    static let tokenInvalid = AblyError(.badRequest, 103005, "the device's token is not valid")
    static let notConfigured = AblyError(.badRequest, 103006, "there are no credentials for the push service")
    static let unreachable = AblyError(.internalServerError, 103007, "the push service could not be reached")
    static let credentialsRefused = AblyError(
        .badRequest,
        103008,
        "the credentials for the push service are not accepted"
    )
    static let notEnabled = AblyError(.badRequest, 103009, pushIsOff.message)
    static let gone = AblyError(.gone, 41001, "the device's registration is gone")

    /// Why a delivery was given up, by Carillon's words for it.
    static func givenUp(because reason: String?) -> AblyError {
        let words = reason?.lowercased() ?? ""
        // Tokens before topics: of one that is another app's both are said.
        if words.tell(["token", "subscription", "not an apns", "not an fcm", "not a web push"]) {
            return tokenInvalid.because(reason)
        }
        let isUnfit = words.tell([
            "payload", "too large", "413", "invalid_argument", "apns-topic", "badcollapseid", "badexpirationdate",
            "badmessageid", "badpriority", "duplicateheaders", "invalidpushtype",
        ])
        return (isUnfit ? unfit : rejected).because(reason)
    }

    /// Why a lane is paused, by Carillon's words for it.
    static func paused(because reason: String?) -> AblyError {
        let words = reason?.lowercased() ?? ""
        if words.tell(["no credential", "no subject"]) { return notConfigured.because(reason) }
        let isRefused = words.tell([
            "providertoken", "provider token", "keyid", "certificate", "topic", "forbidden", "http 401", "http 403",
            "unauthenticated", "permission_denied", "not_found", "auth", "sender_id", "credential", "private key",
            "invalid_grant", "invalid_client", "token_uri",
        ])
        return (isRefused ? credentialsRefused : unreachable).because(reason)
    }

    /// The error with what is known of it besides: such words hold no token and no text.
    func because(_ reason: String?) -> AblyError {
        guard let reason else { return self }
        return AblyError(status, code, "\(message): \(reason)")
    }

    /// What a device's last error is, by Carillon's words for it.
    static func failing(for error: String) -> AblyError {
        let words = error.lowercased()
        let isAway = words.tell([
            "connect", "reach", "timeout", "timed out", "unavailable", "lookup", "look up", "resolve",
        ])
        return isAway || words.hasPrefix("5") ? .unreachable : .rejected
    }

    var ofDevice: JSONValue {
        ["code": JSONValue(code), "statusCode": JSONValue(status.code), "message": .string(message)]
    }
}

extension String {
    fileprivate func tell(_ parts: [String]) -> Bool { parts.contains { contains($0) } }
}
