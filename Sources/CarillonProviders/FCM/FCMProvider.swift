package import CarillonCore
import NIOHTTP1
package import PushHTTP

/// Sends one message per registration token through Firebase Cloud Messaging (HTTP v1).
///
/// - SeeAlso: <https://firebase.google.com/docs/cloud-messaging/send/v1-api>
package struct FCMProvider: Provider {
    /// `fcm`.
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

    /// A provider.
    /// - Parameters:
    ///   - transport: Sends the messages.
    ///   - tokens: Has the access tokens.
    ///   - credentials: Finds the service account of a network and an app; asked once for each group.
    ///   - server: Where FCM is.
    ///   - version: The version of Carillon, for `User-Agent`.
    ///   - clock: What time it is.
    ///   - timeout: How long one request may take; Google asks for at least 10 s.
    ///   - concurrency: How many messages of one group are on their way at a time.
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

    /// Sends to all targets, a few at a time, and reports each as soon as FCM has answered.
    ///
    /// When FCM refuses the project, or asks it to pause, the rest of the group is not sent.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        let current: CurrentCredential<FCMCredential>
        let lane = group.lane
        let find = { try await credentials.credential(of: lane.networkID, for: lane.appID) }
        switch await CredentialLookup(named: lane.appID, by: find) {
        case .found(let found): current = found
        case .missing(let outcome): return group.report(outcome, to: report)
        case .cancelled: return
        }
        let message = FCMMessage(group)
        let key = LaneHistory.Key(lane: lane, credential: current.value.clientEmail)
        await group.sendToEach(atMost: concurrency, while: current.isCurrent, report: report) { target in
            guard let finding = await finding(of: message, in: group, to: target, with: current) else { return nil }
            return history.outcome(finding, of: target.deviceID, in: key, at: clock.now())
        }
    }

    /// What FCM said of one device; `nil` when it was not sent, since the task was cancelled or the credential changed.
    private func finding(
        of message: FCMMessage,
        in group: DeliveryGroup,
        to target: Target,
        with current: CurrentCredential<FCMCredential>
    ) async -> Finding? {
        let credential = current.value
        guard case .fcm(let deviceToken, _) = target.address else { return .certain(.bug(reason: "not an FCM device")) }
        guard message.fits else { return .certain(.payloadTooLarge) }
        let id = NotificationID(event: group.cause.eventID, device: target.deviceID)
        // Two requests for access tokens can leave less time than the second message may take otherwise.
        let end = ContinuousClock.now + deadline
        do {
            var token = try await tokens.token(for: credential)
            for isLast in [false, true] {
                if Task.isCancelled { return nil }
                let timeLeft = end - .now
                guard timeLeft > .zero else { throw OutboundError.timedOut }
                let now = clock.now()
                let body = message.body(to: deviceToken, id: id, timeToLive: group.secondsLeft(at: now))
                var request = request(body, projectID: credential.projectID, token: token)
                request.lane = group.lane
                request.isStillWanted = current.isCurrent
                let response = try await transport.execute(request, timeout: min(timeout, timeLeft))
                let answer = FCMAnswer(response)
                if answer.refusesAccessToken, !isLast {
                    token = try await tokens.token(for: credential, insteadOf: token.value)
                    continue
                }
                let retryAfter = response.headers.first(name: "retry-after")
                    .flatMap { Duration(retryAfter: $0, now: clock.now()) }
                return Finding(fcm: answer, retryAfter: retryAfter, failures: group.attempt)
            }
            return .certain(.misconfigured(reason: "UNAUTHENTICATED"))
        } catch let failure as FCMTokenFailure {
            return Task.isCancelled ? nil : .certain(failure.outcome)
        } catch let refusal as EgressRefusal {
            return .certain(.misconfigured(reason: refusal.rule.rawValue))
        } catch let error as OutboundError {
            return Finding(error)
        } catch {
            return Task.isCancelled || !current.isCurrent() ? nil : .certain(.retry(after: nil, reason: "failed"))
        }
    }

    private func request(_ body: [UInt8], projectID: String, token: FCMAccessToken) -> OutboundRequest {
        OutboundRequest(
            url: server.sendURL(projectID: projectID),
            headers: [
                "authorization": token.value.reveal { "Bearer \($0)" },
                "content-type": "application/json",
                "user-agent": userAgent,
            ],
            body: body
        )
    }
}
