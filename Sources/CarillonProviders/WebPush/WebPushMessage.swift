import CarillonCore

/// What the browsers of a group are to read, with what they share made once.
struct WebPushMessage {
    /// How much a push service has to take (RFC 8030 section 7.2), less what encryption adds.
    static let maximumBytes = maximumPayloadBytes - WebPushEncryption.overheadBytes
    /// How much some take that answer 413 to more: those that pass on to other services with base64 and a smaller limit.
    static let reducedBytes = 2_744 - WebPushEncryption.overheadBytes

    private let head: [UInt8]
    private let data: [UInt8]

    /// The message of a group, its text cut so that it fits.
    init(_ group: DeliveryGroup, maximumBytes: Int = Self.maximumBytes) {
        var data = JSONValue.object(group.payloadData).serialized
        data.removeLast()
        self.data = data
        let whole = Self.head(group.notification)
        let anyID = NotificationID(event: group.cause.eventID, device: DeviceID(trusted: "")).description
        let rest = Self.plaintext(head: [], data: data, id: anyID).count
        if whole.count + rest <= maximumBytes {
            head = whole
        } else {
            let quotes = 4
            let frame = Self.head(Notification(locale: "", title: "", body: "")).count - quotes + rest
            head = Self.head(group.notification.fitted(toJSONBytes: maximumBytes - frame))
        }
    }

    /// The message for one device, in JSON; `tag` lets a second copy replace the first on the screen.
    func plaintext(for id: NotificationID) -> [UInt8] {
        Self.plaintext(head: head, data: data, id: id.description)
    }

    /// The `Topic` of a notification: its id in 32 hexadecimal digits, so that a copy replaces one that still waits.
    ///
    /// - SeeAlso: RFC 8030 section 5.4: at most 32 characters of base64url.
    static func topic(for id: NotificationID) -> String {
        String(id.description.filter { $0 != "-" })
    }

    private static func head(_ notification: Notification) -> [UInt8] {
        let text: JSONValue = ["title": .string(notification.title), "body": .string(notification.body)]
        return text.serialized.dropLast()
    }

    private static func plaintext(head: [UInt8], data: [UInt8], id: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.count + data.count + 128)
        bytes.append(contentsOf: head)
        bytes.append(contentsOf: #","tag":""#.utf8)
        bytes.append(contentsOf: id.utf8)
        bytes.append(contentsOf: #"","data":"#.utf8)
        bytes.append(contentsOf: data)
        bytes.append(contentsOf: #","notificationId":""#.utf8)
        bytes.append(contentsOf: id.utf8)
        bytes.append(contentsOf: #""}}"#.utf8)
        return bytes
    }
}
