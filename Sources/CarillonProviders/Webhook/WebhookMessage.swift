import CarillonCore

/// What one device is sent: the same id and the same bytes on every attempt.
struct WebhookMessage {
    /// The notification's id, by which the receiver knows a repeated message.
    let id: String
    /// The body. Its `timestamp` is when the event was accepted, so that it does not change from attempt to attempt.
    let body: [UInt8]
    /// Whether it is as short as receivers were promised.
    let fits: Bool

    init(_ group: DeliveryGroup, to target: Target) {
        let id = NotificationID(event: group.cause.eventID, device: target.deviceID).description
        self.id = id
        (body, fits) = PushText(group).fitted(to: maximumPayloadBytes, size: \.count) {
            Self.json($0, id: id, group: group, target: target).serialized
        }
    }

    private static func json(
        _ text: PushText,
        id: String,
        group: DeliveryGroup,
        target: Target
    ) -> JSONValue {
        let cause = group.cause
        var data = JSONObject()
        if group.content.hasEnvelope {
            data["notificationId"] = .string(id)
            data["eventId"] = .string(cause.eventID.description)
            data["eventType"] = .string(cause.eventType.rawValue)
        }
        data["deviceId"] = .string(target.deviceID.rawValue)
        if !target.userID.isNobody { data["userId"] = .string(target.userID.rawValue) }
        if group.content.hasEnvelope {
            data["networkId"] = .string(group.lane.networkID.rawValue)
            data["channel"] = cause.channel.map { channel in
                ["id": .string(channel.id.rawValue), "displayName": channel.displayName.map(JSONValue.string)]
            }
            data["message"] = cause.messageID.map { ["id": .string($0)] }
            data["sender"] = cause.senderID.map { ["id": .string($0.rawValue)] }
        }
        data["title"] = text.title.map(JSONValue.string)
        data["body"] = text.body.map(JSONValue.string)
        data["locale"] = (group.devicePush?.notification.locale).map(JSONValue.string)
        data.merge(group.wishes)
        return [
            "type": "notification.created",
            "timestamp": .string(cause.receivedAt.description),
            "data": .object(data),
        ]
    }
}
