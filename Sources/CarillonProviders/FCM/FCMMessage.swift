import CarillonCore

/// What the devices of a group are sent, with what they share made once.
///
/// All values under `data` are strings, as FCM asks, and none has a name that FCM keeps for itself (`from`, `gcm…`,
/// `google…`): the built-in ones are ours, and others are refused when they are posted.
///
/// - SeeAlso: <https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages>
struct FCMMessage {
    /// Google's tokens have about 160 characters; beyond this they are not made room for at the cost of the text.
    private static let longestCountedToken = 1_024
    /// What differs between devices.
    private enum Hole {
        static let token = 0
        static let notificationID = 1
        static let timeToLive = 2
    }

    /// Whether FCM would take so long a message.
    let fits: Bool
    private let template: JSONTemplate

    /// The message of a group, its text cut so that the whole body fits 4,096 bytes for all of the group's tokens.
    init(_ group: DeliveryGroup) {
        let tokens = group.targets.compactMap(\.address).map { JSONValue.string($0.text).serialized.count }
        let sizes = [
            min(tokens.max() ?? 0, Self.longestCountedToken), Self.quoted(Self.anyID(of: group)).count,
            Self.quoted("\(PushContent.longestTimeToLive)s").count,
        ]
        let (content, text) = (group.content, PushText(group))
        (template, fits) = text.fitted(to: maximumPayloadBytes, size: { $0.count { sizes[$0] } }) {
            JSONTemplate(Self.json($0, content, of: group))
        }
    }

    /// The body of the request for one device, which FCM may keep for so many seconds. The notification's id is the same on
    /// every attempt: a second copy replaces the first on the device.
    func body(to token: String, id: NotificationID, timeToLive: Int) -> [UInt8] {
        let id = JSONValue.string(id.description)
        let seconds = JSONValue.string("\(min(max(0, timeToLive), PushContent.longestTimeToLive))s")
        return template.filled { hole, bytes in
            switch hole {
            case Hole.token: JSONValue.string(token).serialize(into: &bytes)
            case Hole.notificationID: id.serialize(into: &bytes)
            default: seconds.serialize(into: &bytes)
            }
        }
    }

    /// Built-in message, then data, then what somebody wrote for FCM.
    private static func json(_ text: PushText, _ content: PushContent, of group: DeliveryGroup) -> JSONValue {
        let isSilent = content.kind(for: .fcm) == .silent
        var message = JSONObject()
        if !isSilent {
            var notification = text.json
            notification["image"] = content.imageURL.map(JSONValue.string)
            if !notification.isEmpty { message["notification"] = .object(notification) }
        }
        var data = group.payloadData
        if content.hasEnvelope { data["notificationId"] = JSONTemplate.hole(Hole.notificationID) }
        data.merge(content.data)
        if !data.isEmpty { message["data"] = .object(data) }
        message["android"] = .object(android(content, isSilent: isSilent, of: group))
        var merged: JSONObject = ["token": JSONTemplate.hole(Hole.token)]
        for (key, value) in JSONValue.object(message).applying(content.parts[.fcm], with: text).entries {
            merged[key] = key == "data" ? value.withStrings : value
        }
        return ["message": .object(merged)]
    }

    private static func android(_ content: PushContent, isSilent: Bool, of group: DeliveryGroup) -> JSONObject {
        // What is silent must not wake a phone from its sleep unless somebody asked for that.
        let isHigh = content.priority.map { $0 == .high } ?? !isSilent
        let collapseKey = content.collapseKey.map(JSONValue.string)
        var android: JSONObject = [
            "priority": isHigh ? "HIGH" : "NORMAL", "ttl": JSONTemplate.hole(Hole.timeToLive),
            "collapse_key": collapseKey,
        ]
        guard !isSilent else { return android }
        android["notification"] = [
            "tag": collapseKey ?? JSONTemplate.hole(Hole.notificationID),
            "notification_count": content.badge.map { JSONValue($0) },
            "sound": content.sound.name(standard: group.isDirect ? "default" : nil).map(JSONValue.string),
            "click_action": content.category.map(JSONValue.string),
        ]
        return android
    }

    private static func quoted(_ text: String) -> [UInt8] { JSONValue.string(text).serialized }

    /// Every id has the same length.
    private static func anyID(of group: DeliveryGroup) -> String {
        NotificationID(event: group.cause.eventID, device: DeviceID(trusted: "")).description
    }
}

extension JSONValue {
    /// An object whose values are strings: what is none becomes its JSON text.
    fileprivate var withStrings: JSONValue {
        guard case .object(let object) = self else { return self }
        var strings = JSONObject()
        for (key, value) in object.members {
            switch value {
            case .string: strings[key] = value
            case _ where JSONTemplate.isHole(value): strings[key] = value
            default: strings[key] = .string(value.serializedText)
            }
        }
        return .object(strings)
    }
}
