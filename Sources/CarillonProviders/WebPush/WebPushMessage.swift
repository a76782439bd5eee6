import CarillonCore

/// What the browsers of a group are to read, with what they share made once, and how push services are to treat it.
struct WebPushMessage {
    /// How much a push service has to take (RFC 8030 section 7.2), less what encryption adds.
    static let maximumBytes = maximumPayloadBytes - WebPushEncryption.overheadBytes
    /// How much some take that answer 413 to more: those that pass on to other services with base64 and a smaller limit.
    static let reducedBytes = 2_744 - WebPushEncryption.overheadBytes
    /// The longest `Topic`, in characters of base64url.
    ///
    /// - SeeAlso: RFC 8030 section 5.4.
    private static let longestTopic = 32
    /// The id of the device's notification, which is all that differs.
    private static let notificationID = 0

    /// Whether a push service would take so long a message.
    let fits: Bool
    let urgency: String
    /// `TTL`, where somebody asked for another one than is left of the notification's life.
    let timeToLive: String?
    private let commonTopic: String?
    private let template: JSONTemplate

    /// The message of a group, its text cut so that it fits.
    init(_ group: DeliveryGroup, maximumBytes: Int = Self.maximumBytes) {
        let (content, text) = (group.content, PushText(group))
        let anyID = NotificationID(event: group.cause.eventID, device: DeviceID(trusted: "")).description
        let idSize = anyID.utf8.count + 2
        (template, fits) = text.fitted(to: maximumBytes, size: { $0.count { _ in idSize } }) {
            JSONTemplate(Self.json($0, content, of: group))
        }
        let headers = content.parts[.webpush]?.headers ?? [:]
        urgency = headers["urgency"] ?? (content.priority ?? .high).rawValue
        timeToLive = headers["ttl"]
        commonTopic = headers["topic"] ?? content.collapseKey.map(Self.topic(hashing:))
    }

    /// The message for one device, in JSON; `tag` lets a second copy replace the first on the screen.
    func plaintext(for id: NotificationID) -> [UInt8] {
        let id = JSONValue.string(id.description)
        return template.filled { _, bytes in id.serialize(into: &bytes) }
    }

    /// The `Topic` of a notification: what those have in common of which only the latest counts, or its own.
    func topic(of id: NotificationID) -> String { commonTopic ?? Self.topic(for: id) }

    /// A notification's own `Topic`: its id in 32 hexadecimal digits, so that a copy replaces one that still waits.
    static func topic(for id: NotificationID) -> String {
        String(id.description.filter { $0 != "-" })
    }

    /// A `Topic` that stands for a text.
    static func topic(hashing text: String) -> String { text.collapseID(within: longestTopic, always: true) }

    /// Built-in message, then data, then what somebody wrote for browsers.
    private static func json(_ text: PushText, _ content: PushContent, of group: DeliveryGroup) -> JSONValue {
        let id = JSONTemplate.hole(notificationID)
        var message = JSONObject()
        if content.kind(for: .webpush) != .silent {
            message = text.json
            message["image"] = content.imageURL.map(JSONValue.string)
            message["tag"] = content.collapseKey.map(JSONValue.string) ?? id
        }
        var data = group.payloadData
        if content.hasEnvelope { data["notificationId"] = id }
        data["badge"] = content.badge.map { JSONValue($0) }
        data.merge(content.data)
        if !data.isEmpty { message["data"] = .object(data) }
        return JSONValue.object(message).applying(content.parts[.webpush], with: text)
    }
}
