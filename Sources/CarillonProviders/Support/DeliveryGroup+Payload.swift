import CarillonCore
import Crypto

extension DeliveryGroup {
    /// What is sent beyond title and body; where nobody said anything, what the built-in payload has.
    var content: PushContent { devicePush?.content ?? PushContent() }

    /// What devices are sent; `nil` where an endpoint is told of something.
    var devicePush: Push? {
        if case .devices(let sent) = payload { sent.push } else { nil }
    }

    /// Whether somebody posted the notification as such. That of an event is built in, and stays so when an endpoint that was
    /// asked about it adds data.
    var isDirect: Bool { cause.eventType == .notificationDirect }

    /// What an app gets besides the text, in the order of the contract: all but the id of the device's notification, and
    /// nothing where it was asked to be left out.
    var payloadData: JSONObject {
        guard content.hasEnvelope else { return JSONObject() }
        return [
            "eventId": .string(cause.eventID.description),
            "eventType": .string(cause.eventType.rawValue),
            "networkId": .string(lane.networkID.rawValue),
            "channelId": cause.channel.map { .string($0.id.rawValue) },
            "messageId": cause.messageID.map(JSONValue.string),
            "senderId": cause.senderID.map { .string($0.rawValue) },
        ]
    }

    /// When push services may forget it: not before they have tried for as long as was asked for.
    var forgottenAt: Timestamp { cause.receivedAt + .seconds(content.timeToLive) }

    /// How many seconds are left until push services may forget it. One that has begun is a whole one: 0 would tell them not to keep it
    /// at all. By a clock that is behind it is no more than was asked for.
    func secondsLeft(at now: Timestamp) -> Int {
        min(content.timeToLive, max(0, Int(((forgottenAt - now).wholeMilliseconds + 999) / 1_000)))
    }
}

extension Outcome {
    /// What is to be sent does not fit, however short its text is cut.
    static let payloadTooLarge = Outcome.unsendable(reason: "payload too large")
}

extension RawPart {
    /// Its payload with the words where they are asked for.
    func payload(with text: PushText) -> JSONObject {
        JSONValue.object(payload).filled(with: text).object ?? JSONObject()
    }
}

extension JSONValue {
    /// This payload with what somebody wrote for its push service, which goes before all that is built.
    func applying(_ part: RawPart?, with text: PushText) -> JSONValue {
        guard let part else { return self }
        let patch = JSONValue.object(part.payload(with: text))
        return part.replaces ? patch : merging(patch: patch)
    }

    /// The value with words in place of `{"$text":…}`.
    fileprivate func filled(with text: PushText) -> JSONValue {
        switch self {
        case .array(let elements):
            return .array(elements.map { $0.filled(with: text) })
        case .object(let object):
            switch PushTextName(self) {
            case .title: return .string(text.title ?? "")
            case .body: return .string(text.body ?? "")
            case nil: break
            }
            var filled = JSONObject()
            for (key, value) in object.members { filled[key] = value.filled(with: text) }
            return .object(filled)
        case .null, .bool, .number, .string:
            return self
        }
    }
}

extension String {
    /// The key of a notification in at most `limit` bytes: itself, or the beginning of its hash in base64url, where it is too
    /// long or holds what a header cannot, or where a key may hold less than that (`always`).
    func collapseID(within limit: Int, always: Bool = false) -> String {
        let isPlain = utf8.allSatisfy { (0x21..<0x7F).contains($0) }
        guard always || !isPlain || utf8.count > limit else { return self }
        return String(Base64URL.encode(Array(SHA256.hash(data: Array(utf8)))).prefix(limit))
    }
}
