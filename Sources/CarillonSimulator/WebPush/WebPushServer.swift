import NIOHPACK

/// A browser vendor's push service, together with the browsers: it decrypts what it gets.
struct WebPushServer: PushServer {
    static let endpointPath = "/push/"
    let scene: Scene
    let origin: String
    let subscriptions: Subscriptions
    private let tokens: VAPIDTokens
    let connectionRules: ConnectionRules
    private let constantAnswer: Answer

    init(scene: Scene, origin: String, subscriptions: Subscriptions, connectionRules: ConnectionRules) {
        self.scene = scene
        self.origin = origin
        self.subscriptions = subscriptions
        self.connectionRules = connectionRules
        tokens = VAPIDTokens(audience: origin)
        constantAnswer = Answer(201, headers: [("location", "\(origin)/message/constant"), ("ttl", "0")])
    }

    var goAwayAfterStreams: Int? { scene.traffic.goAwayAfterStreams }

    func reply(to request: Request, on connection: Connection) -> Reply {
        let condition = scene.traffic.next()
        if let interruption = scene.interruption(condition) { return interruption }
        let now = UnixTime.now()
        let path = request.path
        var text: [UInt8] = []
        var reply: Reply
        var reason: String?
        do throws(WebPushProblem) {
            let subscriber = try subscriber(path)
            try authorize(request, subscriber, now: now)
            if case .storm(let status, let retryAfter) = condition.verdict {
                reply = Reply(manner: .answer(.storm(status, retryAfter: retryAfter)))
                reason = "storm"
            } else if scene.detail == .counts {
                scene.received.countAccepted()
                return Reply(manner: .answer(constantAnswer), delay: condition.delay)
            } else {
                try WebPushRules.check(request)
                text = try decrypt(request, subscriber)
                let ttl = request.headers.first(name: "ttl") ?? "0"
                (reply, reason) = try verdict(about: path, accepted: accepted(ttl: ttl))
            }
        } catch {
            reply = Reply(manner: .answer(error.refusal.answer(error.text)))
            reason = error.text
        }
        reply.delay = max(reply.delay, condition.delay)
        guard scene.detail != .counts else { return reply }
        scene.record(origin + path, reply, reason: reason, at: now) { notification, withText in
            notification.topic = request.headers.first(name: "topic")
            notification.describe(text, headers: withText ? request.visibleHeaders : nil)
        }
        return reply
    }

    private func accepted(ttl: String) -> Answer {
        Answer(201, headers: [("location", "\(origin)/message/\(SimulatedToken.random())"), ("ttl", ttl)])
    }

    private func subscriber(_ path: Substring) throws(WebPushProblem) -> Subscriber {
        guard path.hasPrefix(Self.endpointPath),
            let subscriber = subscriptions.subscriber(String(path.dropFirst(Self.endpointPath.utf8.count)))
        else { throw WebPushProblem(.notFound, "no such subscription") }
        return subscriber
    }

    private func authorize(_ request: Request, _ subscriber: Subscriber, now: Duration) throws(WebPushProblem) {
        guard let authorization = request.headers.first(name: "authorization") else {
            throw WebPushProblem(.unauthorized, "no authorization")
        }
        let key = try tokens.verify(authorization, now: Double(now.wholeSeconds))
        guard let expected = subscriber.applicationServerKey, expected != key else { return }
        throw WebPushProblem(.forbidden, "the subscription was made with another key")
    }

    private func decrypt(_ request: Request, _ subscriber: Subscriber) throws(WebPushProblem) -> [UInt8] {
        // A message without a body is allowed: it only wakes the browser up.
        if request.bodyLength == 0 { return [] }
        guard let text = subscriber.decrypt(request.bytes) else {
            throw WebPushProblem(.badRequest, "the browser cannot decrypt this")
        }
        return text
    }

    /// What the endpoint's name or its departure wants.
    private func verdict(
        about path: Substring,
        accepted: Answer
    ) throws(WebPushProblem) -> (Reply, reason: String?) {
        let endpoint = origin + path
        if scene.departures.time(of: endpoint) != nil { throw WebPushProblem(.gone, "unsubscribed") }
        let behaviour = Behaviour<WebPushRefusal>(words: path.dropFirst(Self.endpointPath.utf8.count))
        guard let outcome = behaviour.outcome, scene.holds(behaviour, for: endpoint) else {
            return (Reply(manner: .answer(accepted), delay: behaviour.delay), nil)
        }
        switch outcome {
        case .refusal(let refusal):
            return (Reply(manner: .answer(refusal.answer), delay: behaviour.delay), refusal.rawValue)
        case .unknown(let status):
            let answer = Answer(status, type: "text/plain", text: "something new")
            return (Reply(manner: .answer(answer), delay: behaviour.delay), "something new")
        case .fault(let fault):
            return (Reply(manner: Reply.Manner(fault), delay: behaviour.delay), fault.rawValue)
        }
    }
}

extension Answer {
    fileprivate static func storm(_ status: Int, retryAfter: String?) -> Answer {
        Answer(status, headers: retryAfter.map { [("retry-after", $0)] } ?? [])
    }
}

extension ReceivedNotification {
    /// Adds what the message says; without headers only which notification it is.
    fileprivate mutating func describe(_ text: [UInt8], headers: [String: String]?) {
        let object = JSONText.object(text)
        notificationID = (object?["data"] as? JSONText.Object)?["notificationId"] as? String
        guard let headers else { return }
        self.headers = headers
        payload = text
        title = object?["title"] as? String
        body = object?["body"] as? String
    }
}
