import CarillonCore

extension Outcome {
    /// What an answer of APNs means: every reason in Apple's table, and the rest by the status's class.
    ///
    /// A device is given up only for the reasons that say that it is gone. ``Finding`` softens what concerns one
    /// environment only, and widens what concerns all devices when it comes again and again.
    /// - SeeAlso: Apple, "Handling notification responses from APNs"; `docs/providers/apns.md`.
    init(_ answer: APNsAnswer) {
        let reason = answer.reason ?? "http \(answer.status)"
        // For whoever looks up what is wrong with the credential.
        let refusal = answer.reason.map { "\(answer.status) \($0)" } ?? reason
        switch (answer.status, answer.reason ?? "") {
        case (200..<300, _):
            self = .delivered(id: answer.id)

        case (410, "Unregistered"), (410, "ExpiredToken"):
            self = .unregister(at: answer.timestamp, reason: reason)
        case (400, "BadDeviceToken"), (400, "InvalidToken"), (400, "DeviceTokenNotForTopic"):
            self = .quarantine(reason: reason)

        case (400, "BadTopic"), (400, "MissingTopic"), (400, "TopicDisallowed"):
            self = .misconfigured(reason: refusal)
        case (403, "UnrelatedKeyIdInToken"):
            self = .retry(after: nil, reason: reason)
        case (401, _), (403, _):
            self = .misconfigured(reason: refusal)
        case (429, "TooManyProviderTokenUpdates"):
            self = .deferLane(after: .seconds(60), reason: reason)

        case (400, "IdleTimeout"):
            self = .retry(after: .seconds(1), reason: reason)
        case (429, _):
            self = .retry(after: max(.seconds(30), answer.retryAfter ?? .zero), reason: reason)
        case _ where answer.saysUnavailable:
            self = .retry(after: max(.seconds(15 * 60), answer.retryAfter ?? .zero), reason: reason)

        // BadCollapseId, BadExpirationDate, BadMessageId, BadPriority, DuplicateHeaders, InvalidPushType,
        // MissingDeviceToken, PayloadEmpty, BadPath, MethodNotAllowed, PayloadTooLarge, and what is not known.
        case (408, _):
            self = .retry(after: answer.retryAfter, reason: reason)
        case (400..<500, _):
            self = .bug(reason: reason)
        default:
            self = .retry(after: answer.retryAfter, reason: reason)
        }
    }
}

extension Finding {
    /// The wait while a key or certificate is not good for an environment.
    private static let environmentPause = Duration.seconds(15 * 60)
    /// The wait while it is not known whether the device or the credential is for another topic.
    private static let topicPause = Duration.seconds(60)

    /// What an answer of APNs means, where that may depend on how the other devices of the lane do.
    ///
    /// Production and sandbox share lane and credential, but a key can be restricted to one of them: then the other one goes
    /// on, however many devices are refused.
    /// What is said of a topic that is not the app's id, and of devices for it, is about what somebody asked for.
    init(_ answer: APNsAnswer, isOwnTopic: Bool = true) {
        let outcome = Outcome(answer)
        switch outcome {
        case .misconfigured where answer.status == 400 && !isOwnTopic, .quarantine where !isOwnTopic:
            self = .certain(.unsendable(reason: answer.reason ?? ""))
        case .misconfigured(let reason) where answer.status == 400:
            // As for a token that is another service's, such as one for calls.
            let word = answer.reason ?? reason
            self = .refusal(
                ofDevice: .quarantine(reason: word),
                ofLane: outcome,
                unclear: .retry(after: Self.topicPause, reason: word)
            )
        case .misconfigured(let reason) where answer.concernsEnvironment:
            self = .certain(.retry(after: Self.environmentPause, reason: answer.reason ?? reason))
        case .retry(let wait, let reason, _) where answer.saysUnavailable:
            self = .limit(ofDevice: outcome, ofLane: .deferLane(after: wait, reason: reason))
        default:
            self = .certain(outcome)
        }
    }
}

extension APNsAnswer {
    /// Whether APNs cannot do anything at the moment, and asks to come again after a quarter of an hour.
    var saysUnavailable: Bool {
        switch (status, reason) {
        case (500, "InternalServerError"), (503, "ServiceUnavailable"), (503, "Shutdown"): true
        default: false
        }
    }

    /// Whether the credential is good, but not for the environment of the device.
    var concernsEnvironment: Bool {
        status == 403 && ["BadCertificateEnvironment", "BadEnvironmentKeyIdInToken"].contains(reason)
    }
}
