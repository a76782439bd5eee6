import NIOHPACK

/// Google's push service, HTTP v1, and its endpoint for access tokens.
struct FCMServer: PushServer {
    let scene: Scene
    let projectID: String
    let tokens: TokenEndpoint
    let connectionRules: ConnectionRules
    private let constantAnswer: Answer
    private let path: String

    init(scene: Scene, projectID: String, tokens: TokenEndpoint, connectionRules: ConnectionRules) {
        self.scene = scene
        self.projectID = projectID
        self.tokens = tokens
        self.connectionRules = connectionRules
        constantAnswer = .accepted(projectID, id: "constant")
        path = "/v1/projects/\(projectID)/messages:send"
    }

    var goAwayAfterStreams: Int? { scene.traffic.goAwayAfterStreams }

    func reply(to request: Request, on connection: Connection) -> Reply {
        if request.path == "/token" { return tokens.reply(to: request) }
        let condition = scene.traffic.next()
        if let interruption = scene.interruption(condition) { return interruption }
        let now = UnixTime.now()
        var message: FCMMessage?
        var reply: Reply
        var reason: String?
        do throws(GoogleError) {
            try authorize(request, now: now)
            if scene.detail == .counts { return try constantReply(condition) }
            let checked = try FCMMessage(request.bytes)
            message = checked
            (reply, reason) = try verdict(about: checked.token, condition)
        } catch {
            reply = Reply(manner: .answer(error.answer))
            reason = error.reason
        }
        reply.delay = max(reply.delay, condition.delay)
        guard scene.detail != .counts else { return reply }
        scene.record(message?.token ?? "", reply, reason: reason, at: now) { notification, withText in
            notification.notificationID = message?.notificationID
            notification.topic = projectID
            guard withText else { return }
            notification.title = message?.title
            notification.body = message?.body
            notification.payload = request.bytes
            notification.headers = request.visibleHeaders
        }
        return reply
    }

    private func authorize(_ request: Request, now: Duration) throws(GoogleError) {
        let authorization = request.headers.first(name: "authorization") ?? ""
        guard authorization.prefix(7).lowercased() == "bearer ", tokens.isValid(authorization.dropFirst(7), now: now)
        else { throw .unauthenticated }
        guard request.method != "POST" || request.path != path else { return }
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard request.method == "POST", parts.count == 5, parts[1] == "v1", parts[2] == "projects",
            parts[4] == "messages:send"
        else { throw GoogleError(code: 404, status: "NOT_FOUND", message: "The requested URL was not found.") }
        throw .permissionDenied
    }

    /// Accepts whatever is authorized.
    private func constantReply(_ condition: Traffic.Condition) throws(GoogleError) -> Reply {
        if case .storm(let status, let retryAfter) = condition.verdict {
            throw .storm(status, retryAfter: retryAfter)
        }
        scene.received.countAccepted()
        return Reply(manner: .answer(constantAnswer), delay: condition.delay)
    }

    /// What the device's token, its departure or a storm wants.
    private func verdict(
        about token: String,
        _ condition: Traffic.Condition
    ) throws(GoogleError) -> (Reply, reason: String?) {
        if case .storm(let status, let retryAfter) = condition.verdict {
            throw .storm(status, retryAfter: retryAfter)
        }
        let isGone = scene.departures.time(of: token) != nil
        var behaviour = Behaviour<FCMRefusal>(words: token)
        if isGone { behaviour = Behaviour(outcome: .refusal(.unregistered)) }
        let accepted = Answer.accepted(projectID, id: SimulatedToken.random())
        guard let outcome = behaviour.outcome, scene.holds(behaviour, for: token) else {
            return (Reply(manner: .answer(accepted), delay: behaviour.delay), nil)
        }
        switch outcome {
        case .refusal(let refusal):
            guard let error = GoogleError(refusal) else {
                let status = refusal == .badGateway ? 502 : 504
                let page = Answer(status, type: "text/html", text: "<html><title>Error \(status)</title>")
                return (Reply(manner: .answer(page), delay: behaviour.delay), refusal.rawValue)
            }
            return (Reply(manner: .answer(error.answer), delay: behaviour.delay), error.reason)
        case .unknown(let status):
            let error = GoogleError(
                code: status,
                status: "SOMETHING_NEW",
                message: "Something new.",
                details: [.fcm("SOMETHING_NEW")]
            )
            return (Reply(manner: .answer(error.answer), delay: behaviour.delay), error.reason)
        case .fault(let fault):
            return (Reply(manner: Reply.Manner(fault), delay: behaviour.delay), fault.rawValue)
        }
    }
}

extension Answer {
    fileprivate static func accepted(_ projectID: String, id: String) -> Answer {
        Answer(200, json: #"{"name":"projects/\#(projectID)/messages/\#(id)"}"#)
    }
}

extension GoogleError {
    fileprivate static func storm(_ status: Int, retryAfter: String?) -> GoogleError {
        let refusal: FCMRefusal? =
            switch status {
            case 401: .unauthenticated
            case 403: .permissionDenied
            case 429: .quotaProject
            case 500: .internal
            case 503: .unavailable
            default: nil
            }
        var error =
            refusal.flatMap { GoogleError($0) }
            ?? GoogleError(code: status, status: "UNKNOWN", message: "Something went wrong.")
        error.retryAfter = retryAfter
        return error
    }
}
