import CarillonCore

/// What the devices of a group are sent, with what they share made once.
///
/// All values under `data` are strings, as FCM asks, and the keys are ours: none of those that FCM keeps for itself
/// (`from`, `gcm…`, `google…`) can occur.
///
/// - SeeAlso: <https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages>
struct FCMMessage {
    /// Google's tokens have about 160 characters; beyond this they are not made room for at the cost of the text.
    private static let longestCountedToken = 1_024
    /// `ttl` with the most digits that it can have.
    private static let longestTimeToLive = 2_419_200

    /// From behind the token to the id of the notification.
    private let shared: [UInt8]

    /// The message of a group, its text cut so that the whole body fits 4,096 bytes for all of the group's tokens.
    init(_ group: DeliveryGroup) {
        let tokens = group.targets.map { target in
            guard case .fcm(let token, _) = target.address else { return 0 }
            return JSONValue.string(token).serialized.count
        }
        let longest = min(tokens.max() ?? 0, Self.longestCountedToken)
        let whole = Self.shared(group.notification, of: group)
        let rest = Self.body(token: [], shared: [], id: Self.anyID(of: group), timeToLive: Self.longestTimeToLive).count
        if whole.count + rest + longest <= maximumPayloadBytes {
            shared = whole
        } else {
            let quotes = 4
            let empty = Notification(locale: group.notification.locale, title: "", body: "")
            let frame = Self.shared(empty, of: group).count - quotes + rest + longest
            shared = Self.shared(group.notification.fitted(toJSONBytes: maximumPayloadBytes - frame), of: group)
        }
    }

    /// The body of the request for one device.
    /// - Parameters:
    ///   - token: The device's registration token.
    ///   - id: The notification's id, the same on every attempt: a second copy replaces the first on the device.
    ///   - timeToLive: How many seconds FCM may keep the message.
    /// - Returns: JSON in UTF-8.
    func body(to token: String, id: NotificationID, timeToLive: Int) -> [UInt8] {
        Self.body(
            token: JSONValue.string(token).serialized,
            shared: shared,
            id: id.description,
            timeToLive: min(max(0, timeToLive), Self.longestTimeToLive)
        )
    }

    private static func body(token: [UInt8], shared: [UInt8], id: String, timeToLive: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(token.count + shared.count + 256)
        bytes.append(contentsOf: #"{"message":{"token":"#.utf8)
        bytes.append(contentsOf: token)
        bytes.append(contentsOf: shared)
        bytes.append(contentsOf: #","notificationId":""#.utf8)
        bytes.append(contentsOf: id.utf8)
        bytes.append(contentsOf: #""},"android":{"priority":"HIGH","ttl":""#.utf8)
        bytes.append(contentsOf: "\(timeToLive)".utf8)
        bytes.append(contentsOf: #"s","notification":{"tag":""#.utf8)
        bytes.append(contentsOf: id.utf8)
        bytes.append(contentsOf: #""}}}}"#.utf8)
        return bytes
    }

    private static func shared(_ notification: Notification, of group: DeliveryGroup) -> [UInt8] {
        let text: JSONValue = ["title": .string(notification.title), "body": .string(notification.body)]
        var bytes = Array(#","notification":"#.utf8)
        text.serialize(into: &bytes)
        bytes.append(contentsOf: #","data":"#.utf8)
        JSONValue.object(group.payloadData).serialize(into: &bytes)
        bytes.removeLast()
        return bytes
    }

    /// Every id has the same length.
    private static func anyID(of group: DeliveryGroup) -> String {
        NotificationID(event: group.cause.eventID, device: DeviceID(trusted: "")).description
    }
}
