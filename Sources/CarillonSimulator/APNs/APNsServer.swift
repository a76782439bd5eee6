import Foundation
import NIOHPACK

/// Apple's push service, for production or for development.
struct APNsServer: PushServer {
    let scene: Scene
    let tokens: ProviderTokens
    let connectionRules: ConnectionRules

    var goAwayAfterStreams: Int? { scene.traffic.goAwayAfterStreams }

    func reply(to request: Request, on connection: Connection) -> Reply {
        let condition = scene.traffic.next()
        if let interruption = scene.interruption(condition) { return interruption }
        let now = UnixTime.now()
        let headers = APNsHeaders(request.headers)
        if scene.detail == .counts { return constantReply(condition, headers, now: now, on: connection) }

        let id = headers.id ?? UUID().uuidString
        var token = ""
        var reply: Reply
        var reason: String?
        do throws(APNsRefusal) {
            token = try APNsRules.token(inPath: request.path)
            if request.method != "POST" { throw APNsRefusal(.methodNotAllowed) }
            try APNsRules.check(headers, certificateTopic: connection.certificateTopic)
            try authenticate(headers, now: now, on: connection)
            try APNsRules.check(payloadBytes: request.bodyLength, pushType: headers.pushType)
            if JSONText.object(request.bytes) == nil { throw APNsRefusal(.payloadEmpty) }
            (reply, reason) = try verdict(about: token, id: id, condition, now: now)
        } catch {
            reply = Reply(manner: .answer(error.answer(id: id)))
            reason = error.reason.rawValue
        }
        reply.delay = max(reply.delay, condition.delay)
        scene.record(token, reply, reason: reason, at: now) { notification, withText in
            notification.notificationID = headers.id
            notification.topic = headers.topic ?? connection.certificateTopic
            if withText { notification.describe(request) }
        }
        return reply
    }

    /// Accepts whoever is authenticated.
    private func constantReply(
        _ condition: Traffic.Condition,
        _ headers: APNsHeaders,
        now: Duration,
        on connection: Connection
    ) -> Reply {
        let id = headers.id ?? ""
        do throws(APNsRefusal) {
            try authenticate(headers, now: now, on: connection)
            if case .storm(let status, let retryAfter) = condition.verdict {
                return Reply(manner: .answer(.storm(status, id: id, retryAfter: retryAfter)), delay: condition.delay)
            }
            scene.received.countAccepted()
            return Reply(manner: .answer(Answer(200, headers: [("apns-id", id)])), delay: condition.delay)
        } catch {
            return Reply(manner: .answer(error.answer(id: id)), delay: condition.delay)
        }
    }

    private func authenticate(
        _ headers: APNsHeaders,
        now: Duration,
        on connection: Connection
    ) throws(APNsRefusal) {
        guard connection.certificateTopic == nil else { return }
        guard let authorization = headers.authorization else { throw APNsRefusal(.missingProviderToken) }
        let keyID = try tokens.verify(authorization, now: now.wholeSeconds).keyID
        if let first = connection.keyID, first != keyID { throw APNsRefusal(.unrelatedKeyIDInToken) }
        connection.keyID = keyID
        connection.allowAllStreams()
    }

    /// What the device's token, its departure or a storm wants.
    private func verdict(
        about token: String,
        id: String,
        _ condition: Traffic.Condition,
        now: Duration
    ) throws(APNsRefusal) -> (Reply, reason: String?) {
        if case .storm(let status, let retryAfter) = condition.verdict {
            return (Reply(manner: .answer(.storm(status, id: id, retryAfter: retryAfter))), "storm")
        }
        try APNsRules.check(token: token, of: scene.service)
        if let time = scene.departures.time(of: token) { throw APNsRefusal(.unregistered, since: time) }
        let behaviour = Behaviour<APNsRefusal>(hexadecimal: token, now: now)
        let accepted = Reply(manner: .answer(Answer(200, headers: [("apns-id", id)])), delay: behaviour.delay)
        guard let outcome = behaviour.outcome, scene.holds(behaviour, for: token) else { return (accepted, nil) }
        switch outcome {
        case .refusal(let refusal):
            return (Reply(manner: .answer(refusal.answer(id: id)), delay: behaviour.delay), refusal.reason.rawValue)
        case .unknown(let status):
            let answer = Answer(status, headers: [("apns-id", id)], json: #"{"reason":"SomethingNew"}"#)
            return (Reply(manner: .answer(answer), delay: behaviour.delay), "SomethingNew")
        case .fault(let fault):
            return (Reply(manner: Reply.Manner(fault), delay: behaviour.delay), fault.rawValue)
        }
    }
}

extension Answer {
    fileprivate static func storm(_ status: Int, id: String, retryAfter: String?) -> Answer {
        let reason = APNsReason.stormReason(status: status)
        let headers = [("apns-id", id)] + (retryAfter.map { [("retry-after", $0)] } ?? [])
        return Answer(status, headers: headers, json: #"{"reason":"\#(reason)"}"#)
    }
}

extension APNsReason {
    fileprivate static func stormReason(status: Int) -> String {
        switch status {
        case 429: APNsReason.tooManyRequests.rawValue
        case 500: APNsReason.internalServerError.rawValue
        case 503: APNsReason.serviceUnavailable.rawValue
        default: "SomethingNew"
        }
    }
}

extension ReceivedNotification {
    /// Adds headers, payload and text.
    fileprivate mutating func describe(_ request: Request) {
        payload = request.bytes
        headers = request.visibleHeaders
        guard let aps = JSONText.object(payload)?["aps"] as? JSONText.Object else { return }
        if let alert = aps["alert"] as? JSONText.Object {
            title = alert["title"] as? String
            body = alert["body"] as? String
        } else {
            body = aps["alert"] as? String
        }
    }
}

/// The headers of a notification, each at most once.
struct APNsHeaders {
    var authorization: String?
    var id: String?
    var topic: String?
    var pushType: String?
    var priority: String?
    var expiration: String?
    var collapseID: String?
    private(set) var hasDuplicates = false

    init(_ headers: HPACKHeaders) {
        for (name, value, _) in headers {
            switch name {
            case "authorization": set(\.authorization, value)
            case "apns-id": set(\.id, value)
            case "apns-topic": set(\.topic, value)
            case "apns-push-type": set(\.pushType, value)
            case "apns-priority": set(\.priority, value)
            case "apns-expiration": set(\.expiration, value)
            case "apns-collapse-id": set(\.collapseID, value)
            default: break
            }
        }
    }

    private mutating func set(_ header: WritableKeyPath<Self, String?>, _ value: String) {
        if self[keyPath: header] != nil { hasDuplicates = true }
        self[keyPath: header] = value
    }
}
