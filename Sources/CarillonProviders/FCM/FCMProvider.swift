package import CarillonCore
import NIOHTTP1
package import PushHTTP

/// Sends one message per registration token through Firebase Cloud Messaging (HTTP v1).
///
/// - SeeAlso: <https://firebase.google.com/docs/cloud-messaging/send/v1-api>
package struct FCMProvider: Provider {
    package let name = ProviderName.fcm
    /// How long one device can take: two requests, and before or between them one for an access token.
    package var deadline: Duration { timeout * 2 + tokens.timeout }

    private let transport: any HTTPTransport
    private let tokens: FCMTokenSource
    private let credentials: RememberedCredentials<FCMCredential>
    private let server: FCMServer
    private let userAgent: String
    private let clock: WallClock
    private let timeout: Duration
    private let concurrency: Int
    private let history = LaneHistory()

    /// A provider that gives one request `timeout` (Google asks for at least 10 s), and has as many messages of a group on their way at
    /// a time as `concurrency` says.
    package init(
        transport: any HTTPTransport,
        tokens: FCMTokenSource,
        credentials: RememberedCredentials<FCMCredential>,
        server: FCMServer = .google,
        version: String,
        clock: WallClock = .system,
        timeout: Duration = .seconds(10),
        concurrency: Int = 100
    ) {
        self.transport = transport
        self.tokens = tokens
        self.credentials = credentials
        self.server = server
        userAgent = "Carillon/\(version)"
        self.clock = clock
        self.timeout = timeout
        self.concurrency = concurrency
    }

    /// When FCM refuses the project, or asks it to pause, the rest of the group is not sent.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        await group.send(with: credentials, atMost: concurrency, report: report) { current in
            let message = FCMMessage(group)
            let key = LaneHistory.Key(lane: group.lane, credential: current.value.clientEmail)
            return { target in
                guard let finding = await finding(of: message, in: group, to: target, with: current) else { return nil }
                return history.outcome(finding, of: target.deviceID, in: key, at: clock.now())
            }
        }
    }

    private func finding(
        of message: FCMMessage,
        in group: DeliveryGroup,
        to target: Target,
        with current: CurrentCredential<FCMCredential>
    ) async -> Finding? {
        let credential = current.value
        guard let address = target.address, address.provider == name else {
            return .certain(.unsendable(reason: "not an FCM device", isOfDevice: true))
        }
        guard message.fits else { return .certain(.payloadTooLarge) }
        let id = NotificationID(event: group.cause.eventID, device: target.deviceID)
        // Two requests for access tokens can leave less time than the second message may take otherwise.
        let end = ContinuousClock.now + deadline
        return await current.finding(whenRefused: { .misconfigured(reason: $0) }) { current in
            var former: FCMAccessToken?
            while true {
                let token: FCMAccessToken
                do {
                    token = try await tokens.token(for: credential, insteadOf: former?.value)
                } catch let failure as FCMTokenFailure {
                    return Task.isCancelled ? nil : .certain(failure.outcome)
                }
                if Task.isCancelled { return nil }
                let timeLeft = end - .now
                guard timeLeft > .zero else { throw OutboundError.timedOut }
                let body = message.body(to: address.text, id: id, timeToLive: group.secondsLeft(at: clock.now()))
                var request = server.request(body, projectID: credential.projectID, token: token)
                request.headers.add(name: "user-agent", value: userAgent)
                request.lane = group.lane
                request.isStillWanted = current.isCurrent
                request.whenNotProcessed = current.whenNotProcessed
                let response = try await transport.execute(request, timeout: min(timeout, timeLeft))
                let answer = FCMAnswer(response)
                if answer.refusesAccessToken, former == nil {
                    former = token
                    continue
                }
                let retryAfter = response.headers.retryAfter(at: clock.now())
                return Finding(fcm: answer, retryAfter: retryAfter, failures: group.attempt)
            }
        }
    }
}
