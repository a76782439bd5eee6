import CarillonCore

/// What a homeserver posts.
///
/// - SeeAlso: <https://spec.matrix.org/latest/push-gateway-api/#post_matrixpushv1notify>
struct MatrixNotification: Sendable {
    /// What is unread and missed; `nil` for what the homeserver does not say.
    struct Counts: Sendable, Equatable {
        var unread: Int?
        var missedCalls: Int?

        /// Both together; `nil` when neither is said.
        var sum: Int? {
            guard unread != nil || missedCalls != nil else { return nil }
            let (sum, isTooMuch) = max(0, unread ?? 0).addingReportingOverflow(max(0, missedCalls ?? 0))
            return isTooMuch ? .max : sum
        }

        var isZero: Bool { (unread ?? 0) == 0 && (missedCalls ?? 0) == 0 }
    }

    struct Device: Sendable {
        var appID: String
        var pushkey: String
        var obtainedAt: Timestamp?
        /// What the app told its homeserver to pass on.
        var data: JSONObject
        /// The sound that the user's rules ask for.
        var sound: String?

        /// What the app wants in everything that is sent to it; one that is no object is as good as none.
        var defaultPayload: JSONObject { data["default_payload"]?.object ?? JSONObject() }

        /// Whether there is a `default_payload` that is no object.
        var hasBadDefaultPayload: Bool {
            switch data["default_payload"] {
            case nil, .null, .object: false
            default: true
            }
        }

        /// Whether the app asks for something in its data.
        func asks(for wish: String) -> Bool { data[wish] == .bool(true) }
    }

    /// What it is about; `nil` in an update of the badge.
    var eventID: String?
    var roomID: String?
    /// As much as is shown of it, as of the sender and the membership.
    var type: String?
    var sender: String?
    /// Names as they are shown.
    var senderName: String?
    var roomName: String?
    var roomAlias: String?
    var membership: String?
    var userIsTarget: Bool
    /// Whether it may wait.
    var isLow: Bool
    var content: JSONObject
    var counts: Counts
    var devices: [Device]

    /// Whether it only says how much is unread.
    var isBadgeUpdate: Bool { eventID == nil }

    /// Whether it says no more than where to look: the format `event_id_only`.
    var isEventIDOnly: Bool { eventID != nil && type == nil }

    var room: String? { roomName ?? roomAlias }

    var from: String? { senderName ?? sender?.shownName }

    /// The words of a message; of no other event are they words.
    var body: String? { content["body"]?.text.flatMap { $0.isEmpty ? nil : $0 } }

    var messageType: String? { content["msgtype"]?.text }

    var isInvitation: Bool { type == "m.room.member" && membership == "invite" && userIsTarget }

    /// `Sender (Room)`, or the sender where the room has no name.
    var title: String? {
        guard let from else { return room }
        return room.map { "\(from) (\($0))" } ?? from
    }
}
