import CarillonCore

/// What one device is sent: the same id and the same bytes on every attempt.
struct WebhookMessage {
    /// The notification's id, by which the receiver knows a repeated message.
    let id: String
    /// The body. Its `timestamp` is when the event was accepted, so that it does not change from attempt to attempt.
    let body: [UInt8]

    init(_ group: DeliveryGroup, to target: Target) {
        let id = NotificationID(event: group.cause.eventID, device: target.deviceID).description
        func body(_ notification: Notification) -> [UInt8] {
            Self.json(notification, id: id, group: group, target: target).serialized
        }
        let whole = body(group.notification)
        self.id = id
        if whole.count <= maximumPayloadBytes {
            self.body = whole
        } else {
            let quotes = 4
            let frame = body(Notification(locale: group.notification.locale, title: "", body: "")).count - quotes
            self.body = body(group.notification.fitted(toJSONBytes: maximumPayloadBytes - frame))
        }
    }

    private static func json(
        _ notification: Notification,
        id: String,
        group: DeliveryGroup,
        target: Target
    ) -> JSONValue {
        let cause = group.cause
        var channel = JSONObject()
        channel["id"] = .string(cause.channel.id.rawValue)
        channel["displayName"] = cause.channel.displayName.map { .string($0) }
        return [
            "type": "notification.created",
            "timestamp": .string(cause.receivedAt.description),
            "data": [
                "notificationId": .string(id),
                "eventId": .string(cause.eventID.description),
                "eventType": .string(cause.eventType.rawValue),
                "deviceId": .string(target.deviceID.rawValue),
                "userId": .string(target.userID.rawValue),
                "networkId": .string(group.lane.networkID.rawValue),
                "channel": .object(channel),
                "title": .string(notification.title),
                "body": .string(notification.body),
                "locale": .string(notification.locale),
            ],
        ]
    }
}
