package import CarillonCore
import NIOHTTP1
package import PushHTTP

/// Sends encrypted messages to browsers through whatever push service each has subscribed with.
///
/// Endpoints are URLs that users chose, so the transport has to be one that checks where they lead.
///
/// - SeeAlso: RFC 8030, RFC 8291, RFC 8292.
package struct WebPushProvider: Provider {
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

    /// A provider that gives one request `timeout`, and has as many messages of a group on their way at a time as `concurrency`
    /// says. The transport has to send to permitted addresses only.
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

    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        await group.send(with: credentials, atMost: concurrency, report: report) { (current) throws(Refusal) in
            guard current.value.subject != nil else {
                // Apple refuses messages that nobody answers for.
                throw Refusal(.deferLane(after: nil, reason: "no subject for \(name.rawValue)"))
            }
            let message = WebPushMessage(group)
            let key = LaneHistory.Key(lane: group.lane, credential: "\(current.value)")
            return { target in
                guard let finding = await finding(of: message, in: group, to: target, by: current) else { return nil }
                return history.outcome(finding, of: target.deviceID, in: key, at: clock.now())
            }
        }
    }

    private func finding(
        of message: WebPushMessage,
        in group: DeliveryGroup,
        to target: Target,
        by current: CurrentCredential<WebPushCredential>
    ) async -> Finding? {
        let credential = current.value
        guard let address = target.address, address.provider == name, let (p256dh, auth) = address.keys else {
            return .certain(.unsendable(reason: "not a Web Push subscription", isOfDevice: true))
        }
        guard let keys = SubscriptionKeys(p256dh: p256dh, auth: auth) else {
            return .certain(.unsendable(reason: "invalid subscription keys", isOfDevice: true))
        }
        guard message.fits else { return .certain(.payloadTooLarge) }
        let endpoint = address.text
        let id = NotificationID(event: group.cause.eventID, device: target.deviceID)
        return await current.finding { current in
            let url = try OutboundURL(endpoint)
            guard url.isConfidential else {
                return .certain(.unsendable(reason: EgressRefusal.Rule.scheme.rawValue, isOfDevice: true))
            }
            var plaintext = message.plaintext(for: id)
            while true {
                if Task.isCancelled { return nil }
                let request = OutboundRequest(
                    url: endpoint,
                    headers: try headers(of: message, for: id, of: group, to: url, by: credential),
                    body: try WebPushEncryption.encrypt(plaintext, for: keys),
                    lane: group.lane,
                    isStillWanted: current.isCurrent,
                    whenNotProcessed: current.whenNotProcessed
                )
                let response = try await transport.execute(request, timeout: timeout)
                if response.status == 413, plaintext.count > WebPushMessage.reducedBytes {
                    let reduced = WebPushMessage(group, maximumBytes: WebPushMessage.reducedBytes)
                    guard reduced.fits else { return .certain(.payloadTooLarge) }
                    plaintext = reduced.plaintext(for: id)
                    continue
                }
                if [401, 403].contains(response.status) { vapid.forget(url.origin, by: credential) }
                let retryAfter = response.headers.retryAfter(at: clock.now())
                return Finding(webPush: response, retryAfter: retryAfter, failures: group.attempt)
            }
        }
    }

    private func headers(
        of message: WebPushMessage,
        for id: NotificationID,
        of group: DeliveryGroup,
        to url: OutboundURL,
        by credential: WebPushCredential
    ) throws -> HTTPHeaders {
        let timeToLive = message.timeToLive ?? "\(group.secondsLeft(at: clock.now()))"
        var headers: HTTPHeaders = [
            "authorization": try vapid.authorization(for: url.origin, by: credential),
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": timeToLive,
            "urgency": message.urgency,
            "topic": message.topic(of: id),
            "user-agent": userAgent,
        ]
        // Windows' service keeps what does not forbid it, and refuses what it could keep for no time.
        if url.isBelow("notify.windows.com"), Int(timeToLive) == 0 {
            headers.add(name: "x-wns-cache-policy", value: "no-cache")
        }
        // Apple's decodes it, and refuses what no bytes are written as.
        if url.isBelow("push.apple.com"), let topic = headers.first(name: "topic"), topic.utf8.count % 4 == 1 {
            headers.replaceOrAdd(name: "topic", value: WebPushMessage.topic(hashing: topic))
        }
        return headers
    }
}

extension OutboundURL {
    fileprivate func isBelow(_ domain: String) -> Bool {
        if case .name(let name) = host { name.hasSuffix("." + domain) } else { false }
    }
}
