package import CarillonCore
import NIOHTTP1
package import PushHTTP

/// Sends encrypted messages to browsers through whatever push service each has subscribed with.
///
/// Endpoints are URLs that users chose, so the transport has to be one that checks where they lead.
///
/// - SeeAlso: RFC 8030, RFC 8291, RFC 8292.
package struct WebPushProvider: Provider {
    /// `webpush`.
    package let name = ProviderName.webpush
    /// How long one device can take: two requests, the second one for services that want shorter messages.
    package var deadline: Duration { timeout * 2 }

    private let transport: any HTTPTransport
    private let credentials: RememberedCredentials<WebPushCredential>
    private let vapid: VAPID
    private let userAgent: String
    private let clock: WallClock
    private let timeout: Duration
    private let concurrency: Int
    private let history = LaneHistory()

    /// A provider.
    /// - Parameters:
    ///   - transport: Sends the messages, to permitted addresses only.
    ///   - credentials: Finds the credential of a network; asked once for each group.
    ///   - version: The version of Carillon, for `User-Agent`.
    ///   - clock: What time it is.
    ///   - timeout: How long one request may take.
    ///   - concurrency: How many messages of one group are on their way at a time.
    package init(
        transport: any HTTPTransport,
        credentials: RememberedCredentials<WebPushCredential>,
        version: String,
        clock: WallClock = .system,
        timeout: Duration = .seconds(10),
        concurrency: Int = 100
    ) {
        self.transport = transport
        self.credentials = credentials
        vapid = VAPID(clock: clock)
        userAgent = "Carillon/\(version)"
        self.clock = clock
        self.timeout = timeout
        self.concurrency = concurrency
    }

    /// Sends to all targets, a few at a time, and reports each as soon as its push service has answered.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        let current: CurrentCredential<WebPushCredential>
        let network = group.lane.networkID
        switch await CredentialLookup(named: name.rawValue, by: { try await credentials.credential(of: network) }) {
        case .found(let found): current = found
        case .missing(let outcome): return group.report(outcome, to: report)
        case .cancelled: return
        }
        let credential = current.value
        guard credential.subject != nil else {
            // Apple refuses messages that nobody answers for.
            return group.report(.deferLane(after: nil, reason: "no subject for \(name.rawValue)"), to: report)
        }
        let message = WebPushMessage(group)
        let key = LaneHistory.Key(lane: group.lane, credential: "\(credential)")
        await group.sendToEach(atMost: concurrency, while: current.isCurrent, report: report) { target in
            guard let finding = await finding(of: message, in: group, to: target, by: current) else { return nil }
            return history.outcome(finding, of: target.deviceID, in: key, at: clock.now())
        }
    }

    /// What the push service said of one device; `nil` when it was not sent, since the task was cancelled or the credential
    /// changed.
    private func finding(
        of message: WebPushMessage,
        in group: DeliveryGroup,
        to target: Target,
        by current: CurrentCredential<WebPushCredential>
    ) async -> Finding? {
        let credential = current.value
        guard case .webpush(let endpoint, let p256dh, let auth) = target.address else {
            return .certain(.bug(reason: "not a Web Push subscription"))
        }
        guard let keys = SubscriptionKeys(p256dh: p256dh, auth: auth) else {
            return .certain(.bug(reason: "invalid subscription keys"))
        }
        guard message.fits else { return .certain(.payloadTooLarge) }
        let id = NotificationID(event: group.cause.eventID, device: target.deviceID)
        do {
            let url = try OutboundURL(endpoint)
            guard url.isConfidential else { return .certain(.bug(reason: EgressRefusal.Rule.scheme.rawValue)) }
            var plaintext = message.plaintext(for: id)
            while true {
                if Task.isCancelled { return nil }
                let request = OutboundRequest(
                    url: endpoint,
                    headers: try headers(of: message, for: id, of: group, to: url, by: credential),
                    body: try WebPushEncryption.encrypt(plaintext, for: keys),
                    lane: group.lane,
                    isStillWanted: current.isCurrent
                )
                let response = try await transport.execute(request, timeout: timeout)
                if response.status == 413, plaintext.count > WebPushMessage.reducedBytes {
                    let reduced = WebPushMessage(group, maximumBytes: WebPushMessage.reducedBytes)
                    guard reduced.fits else { return .certain(.payloadTooLarge) }
                    plaintext = reduced.plaintext(for: id)
                    continue
                }
                if [401, 403].contains(response.status) { vapid.forget(url.origin, by: credential) }
                let retryAfter = response.headers.first(name: "retry-after")
                    .flatMap { Duration(retryAfter: $0, now: clock.now()) }
                return Finding(webPush: response, retryAfter: retryAfter, failures: group.attempt)
            }
        } catch let refusal as EgressRefusal {
            return .certain(.bug(reason: refusal.rule.rawValue))
        } catch let error as OutboundError {
            return Finding(error)
        } catch {
            return Task.isCancelled || !current.isCurrent() ? nil : .certain(.retry(after: nil, reason: "failed"))
        }
    }

    private func headers(
        of message: WebPushMessage,
        for id: NotificationID,
        of group: DeliveryGroup,
        to url: OutboundURL,
        by credential: WebPushCredential
    ) throws -> HTTPHeaders {
        [
            "authorization": try vapid.authorization(for: url.origin, by: credential),
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": message.timeToLive ?? "\(group.secondsLeft(at: clock.now()))",
            "urgency": message.urgency,
            "topic": message.topic(of: id),
            "user-agent": userAgent,
        ]
    }
}
