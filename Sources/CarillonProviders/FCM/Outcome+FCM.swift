import CarillonCore

/// FCM's own codes.
///
/// - SeeAlso: <https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode>
enum FCMErrorCode: String, CaseIterable {
    case unspecified = "UNSPECIFIED_ERROR"
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case `internal` = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"
}

extension Finding {
    /// The wait before what FCM could not do is tried again, unless it names a longer one.
    private static let pause = Duration.seconds(10)
    /// The wait for a quota that is used up, unless FCM names another one.
    private static let quotaPause = Duration.seconds(60)
    /// The wait while the project lacks the key of another push service.
    private static let thirdPartyPause = Duration.seconds(900)
    /// The wait while it is not known whether the device or the service account is of another project.
    private static let mismatchPause = Duration.seconds(60)
    /// How often what nobody understands is tried.
    private static let attemptsForUnknown = 3

    /// What FCM's answer means (`docs/providers/fcm.md` has the table).
    ///
    /// Its details are read before its status, and that before the HTTP code. Unknown codes go by the class of the HTTP
    /// code, and never unregister a device.
    init(fcm answer: FCMAnswer, retryAfter: Duration?, failures: Int) {
        if (200..<300).contains(answer.status), answer.errorCode == nil, answer.errorStatus == nil {
            self = .certain(
                answer.messageName.map { .delivered(id: $0.utf8.count <= 256 ? $0 : nil) }
                    ?? .retry(after: Self.pause, reason: "http \(answer.status) without a message name")
            )
            return
        }
        let pause = max(retryAfter ?? .zero, Self.pause)
        if let name = answer.errorCode, let code = FCMErrorCode(rawValue: name) {
            self.init(code, answer, retryAfter: retryAfter, pause: pause, failures: failures)
            return
        }
        switch answer.errorStatus {
        case "INVALID_ARGUMENT": self = .certain(Self.invalidArgument(answer))
        case "UNAUTHENTICATED": self = .certain(.misconfigured(reason: answer.refusal("UNAUTHENTICATED")))
        case "PERMISSION_DENIED": self = .certain(.misconfigured(reason: answer.refusal("PERMISSION_DENIED")))
        // Devices that are gone have a code of FCM's own: without it the project or the path is wrong.
        case "NOT_FOUND": self = .certain(.misconfigured(reason: answer.refusal("NOT_FOUND")))
        case "RESOURCE_EXHAUSTED": self = .certain(Self.quota(answer, retryAfter: retryAfter))
        case "INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED":
            self = .certain(.retry(after: pause, reason: answer.errorStatus ?? ""))
        default:
            self = .certain(Self.outcome(ofHTTP: answer, retryAfter: retryAfter, pause: pause, failures: failures))
        }
    }

    private init(
        _ code: FCMErrorCode,
        _ answer: FCMAnswer,
        retryAfter: Duration?,
        pause: Duration,
        failures: Int
    ) {
        let reason = code.rawValue
        switch code {
        case .unregistered: self = .certain(.unregister(at: nil, reason: reason))
        case .invalidArgument: self = .certain(Self.invalidArgument(answer))
        case .quotaExceeded: self = .certain(Self.quota(answer, retryAfter: retryAfter))
        case .unavailable, .internal: self = .certain(.retry(after: pause, reason: reason))
        case .unspecified: self = .certain(Self.unknown(reason, pause: pause, failures: failures))
        case .senderIDMismatch:
            // With the service account of another project it is what every device gets.
            self = .refusal(
                ofDevice: .unregister(at: nil, reason: reason),
                ofLane: .misconfigured(reason: answer.refusal(reason)),
                unclear: .retry(after: max(retryAfter ?? .zero, Self.mismatchPause), reason: reason),
                namesDevice: true
            )
        case .thirdPartyAuthError:
            // The project lacks the key for iPhones or browsers: no reason to stop what goes to Android.
            self = .partial(
                ofKind: .retry(after: Self.thirdPartyPause, reason: reason),
                ofLane: .misconfigured(reason: answer.refusal(reason))
            )
        }
    }

    /// Only a complaint about the token is about the device; all else in the message is ours.
    private static func invalidArgument(_ answer: FCMAnswer) -> Outcome {
        if answer.saysInvalidToken || answer.wrongFields.contains("message.token") {
            return .unregister(at: nil, reason: "INVALID_ARGUMENT message.token")
        }
        return .bug(reason: "INVALID_ARGUMENT")
    }

    private static func quota(_ answer: FCMAnswer, retryAfter: Duration?) -> Outcome {
        let reason = answer.errorCode ?? answer.errorStatus ?? "http \(answer.status)"
        let wait = max(retryAfter ?? quotaPause, pause)
        return answer.isDeviceQuota ? .retry(after: wait, reason: reason) : .deferLane(after: wait, reason: reason)
    }

    private static func outcome(
        ofHTTP answer: FCMAnswer,
        retryAfter: Duration?,
        pause: Duration,
        failures: Int
    ) -> Outcome {
        let word = answer.errorCode ?? answer.errorStatus
        let reason = word ?? "http \(answer.status)"
        switch answer.status {
        case 300..<400, 401, 403, 404: return .misconfigured(reason: word.map(answer.refusal) ?? reason)
        case 400 where answer.saysInvalidToken: return invalidArgument(answer)
        case 413: return .bug(reason: reason)
        case 429: return quota(answer, retryAfter: retryAfter)
        case 408, 500...: return .retry(after: pause, reason: reason)
        default: return unknown(reason, pause: pause, failures: failures)
        }
    }

    private static func unknown(_ reason: String, pause: Duration, failures: Int) -> Outcome {
        failures + 1 < attemptsForUnknown ? .retry(after: pause, reason: reason) : .bug(reason: reason)
    }
}

extension FCMAnswer {
    /// Whether FCM does not take the access token, rather than something about the message.
    var refusesAccessToken: Bool {
        guard errorCode.flatMap(FCMErrorCode.init(rawValue:)) == nil else { return false }
        return errorStatus == "UNAUTHENTICATED" || (errorStatus == nil && status == 401)
    }

    /// What is wrong with the credential, by the service's word for it.
    fileprivate func refusal(_ word: String) -> String {
        "\(status) \(word)" + (cause.flatMap { $0 == word ? nil : " (\($0))" } ?? "")
    }
}
