import CarillonCore
import NIOHTTP1
import PushHTTP

extension Finding {
    /// The wait for a limit that is reached, unless the push service names another one.
    private static let limitPause = Duration.seconds(60)
    /// The wait after what the push service could not do, unless it names a longer one.
    private static let pause = Duration.seconds(10)
    /// How often what nobody understands is tried.
    private static let attemptsForUnknown = 3

    /// What a push service's answer means (`docs/providers/webpush.md` has the table).
    ///
    /// RFC 8030 and RFC 8292 give the codes; the services' own words tell apart what they answer with the same code.
    init(webPush response: OutboundResponse, retryAfter: Duration?, failures: Int) {
        let status = "http \(response.status)"
        let reason = response.statedReason.map { "\(status) \($0)" } ?? status
        switch response.status {
        case 200..<300:
            // The `Location` that it names can delete the message: whoever may read deliveries must not see that.
            self = .certain(.delivered(id: nil))
        case 400..<404 where response.saysOtherKey:
            self = .certain(.quarantine(reason: "\(status) subscribed with another key"))
        case 400, 413:
            self = .certain(.bug(reason: reason))
        case 401, 403:
            let wait = max(retryAfter ?? .zero, Self.limitPause)
            self = .refusal(
                ofDevice: .quarantine(reason: reason),
                ofLane: .misconfigured(reason: reason),
                unclear: .retry(after: wait, reason: reason)
            )
        case 404, 410:
            self = .certain(.unregister(at: nil, reason: reason))
        // What Microsoft's service answers above its limit is 406.
        case 406, 429:
            let wait = max(retryAfter ?? Self.limitPause, Self.pause)
            self = .limit(
                ofDevice: .retry(after: wait, reason: reason),
                ofLane: .deferLane(after: wait, reason: reason)
            )
        case 408, 500...:
            self = .certain(.retry(after: max(retryAfter ?? .zero, Self.pause), reason: reason))
        default:
            // Redirects are here, too: where they lead was not checked, and the subscription says where to send to.
            let isHopeless = failures + 1 >= Self.attemptsForUnknown
            self = .certain(isHopeless ? .bug(reason: reason) : .retry(after: Self.pause, reason: reason))
        }
    }
}

extension OutboundResponse {
    private static let longestReadText = 2_048

    /// What the push service says of a refusal: Apple a word, Mozilla a number, Microsoft a header. Of people's text nothing is in it.
    fileprivate var statedReason: String? {
        guard [400, 401, 403].contains(status) else { return nil }
        if let description = headers.first(name: "x-wns-error-description") { return description.reasonWords }
        guard body.count <= Self.longestReadText, let document = try? JSONValue(parsing: body) else { return nil }
        if case .number(let number)? = document["errno"], let errno = number.integer { return "errno \(errno)" }
        return document["reason"]?.text.flatMap { APNsAnswer.isWord($0) ? $0 : nil }
    }

    /// Whether the push service says that the subscription was made with another key than ours: Apple with a code,
    /// Mozilla and Google in words.
    fileprivate var saysOtherKey: Bool {
        let text = String(decoding: body.prefix(Self.longestReadText), as: UTF8.self).lowercased()
        return text.contains("vapidpkhashmismatch") || text.contains("vapid public key mismatch")
            || text.contains("do not correspond to the credentials used to create the subscription")
    }
}

extension String {
    /// Itself where it is as short and plain as reasons are.
    fileprivate var reasonWords: String? {
        let isPlain = utf8.allSatisfy { $0.isASCIIAlphanumeric || [UInt8](" -.".utf8).contains($0) }
        return isPlain && (1...100).contains(utf8.count) ? self : nil
    }
}
