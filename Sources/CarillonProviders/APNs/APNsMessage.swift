import CarillonCore

/// What all devices of a group are sent: the payload, of at most 4,096 bytes (API section 9).
struct APNsMessage {
    let payload: [UInt8]
    /// When APNs may stop trying to deliver it, in seconds since 1970.
    let expiration: String

    init(_ group: DeliveryGroup) {
        func payload(_ notification: Notification) -> [UInt8] { Self.json(notification, of: group).serialized }
        let whole = payload(group.notification)
        if whole.count <= maximumPayloadBytes {
            self.payload = whole
        } else {
            let quotes = 4
            let frame = payload(Notification(locale: group.notification.locale, title: "", body: "")).count - quotes
            self.payload = payload(group.notification.fitted(toJSONBytes: maximumPayloadBytes - frame))
        }
        expiration = String(group.expiresAt.milliseconds / 1_000)
    }

    private static func json(_ notification: Notification, of group: DeliveryGroup) -> JSONValue {
        let cause = group.cause
        return [
            "aps": [
                "alert": ["title": .string(notification.title), "body": .string(notification.body)],
                "sound": "default",
                "thread-id": .string(cause.channel.id.rawValue),
            ],
            "eventId": .string(cause.eventID.description),
            "eventType": .string(cause.eventType.rawValue),
            "networkId": .string(group.lane.networkID.rawValue),
            "channelId": .string(cause.channel.id.rawValue),
        ]
    }
}
