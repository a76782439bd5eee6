import CarillonCore

/// What all devices of a group are sent: the payload, of at most 4,096 bytes (API section 9), and its headers.
struct APNsMessage {
    /// The longest `apns-collapse-id`, in bytes.
    private static let longestCollapseID = 64

    let payload: [UInt8]
    /// Whether APNs would take so long a payload.
    let fits: Bool
    /// `apns-push-type`: `background` for what shows nothing.
    let pushType: String
    let priority: String
    /// When APNs may stop trying to deliver it, in seconds since 1970; 0 for one that is not kept at all.
    let expiration: String
    /// What it has in common with those that it replaces; `nil` for one that replaces only copies of itself.
    let collapseID: String?
    /// The topic, where somebody asked for another one than the app's id.
    private let topic: String?

    init(_ group: DeliveryGroup) {
        let (content, text) = (group.content, PushText(group))
        (payload, fits) = text.fitted(to: maximumPayloadBytes, size: \.count) {
            Self.json($0, content, of: group).serialized
        }
        let headers = content.parts[.apns]?.headers ?? [:]
        let isSilent = content.kind(for: .apns) == .silent
        pushType = headers["apns-push-type"] ?? (isSilent ? "background" : "alert")
        let isBackground = pushType == "background"
        // APNs refuses what runs in the background at once.
        let asked = headers["apns-priority"].flatMap { isBackground && $0 == "10" ? nil : $0 }
        priority = asked ?? Self.priority(content.priority, isSilent: isSilent || isBackground)
        let end = content.timeToLive == 0 ? 0 : (group.forgottenAt.milliseconds + 999) / 1_000
        expiration = headers["apns-expiration"] ?? String(end)
        collapseID =
            headers["apns-collapse-id"] ?? content.collapseKey?.collapseID(within: Self.longestCollapseID)
        topic = headers["apns-topic"]
    }

    /// The topic for devices of an app; `nil` when what was asked for belongs to another app.
    func topic(of appID: String) -> String? {
        guard let topic else { return appID }
        return topic == appID || topic.hasPrefix(appID + ".") ? topic : nil
    }

    private static func priority(_ priority: PushContent.Priority?, isSilent: Bool) -> String {
        switch priority ?? .high {
        case _ where isSilent: "5"
        case .high: "10"
        case .normal: "5"
        case .low: "1"
        }
    }

    /// Built-in payload, then data, then what somebody wrote for APNs.
    private static func json(_ text: PushText, _ content: PushContent, of group: DeliveryGroup) -> JSONValue {
        let kind = content.kind(for: .apns)
        var payload: JSONObject = ["aps": .object(aps(text, content, kind, of: group))]
        payload.merge(group.payloadData)
        if kind != .silent { payload["imageUrl"] = content.imageURL.map(JSONValue.string) }
        payload.merge(content.data)
        return JSONValue.object(payload).applying(content.parts[.apns], with: text)
    }

    private static func aps(
        _ text: PushText,
        _ content: PushContent,
        _ kind: PushContent.Kind,
        of group: DeliveryGroup
    ) -> JSONObject {
        guard kind != .silent else { return ["content-available": 1] }
        return [
            "alert": text.isEmpty ? nil : .object(text.json),
            "badge": content.badge.map { JSONValue($0) },
            "sound": content.sound.name(standard: "default").map(JSONValue.string),
            "category": content.category.map(JSONValue.string),
            "thread-id": (content.threadID ?? group.cause.channel?.id.rawValue).map(JSONValue.string),
            "content-available": kind == .mixed ? 1 : nil,
            "mutable-content": content.imageURL == nil ? nil : 1,
        ]
    }
}
