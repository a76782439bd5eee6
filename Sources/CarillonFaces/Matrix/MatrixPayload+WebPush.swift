import CarillonCore
import Crypto

extension MatrixPayload {
    /// The longest `Topic` (RFC 8030 section 5.4).
    private static let longestTopic = 32

    var webpush: RawPart? {
        if notification.isBadgeUpdate, badge == nil || device.asks(for: "events_only") { return nil }
        var payload = device.defaultPayload
        payload.merge(notification.common(isText: false))
        if !notification.isEventIDOnly, !notification.isBadgeUpdate {
            payload.merge(notification.details)
            if notification.userIsTarget { payload["user_is_target"] = true }
            let content = translation.shownContent
            if !content.isEmpty { payload["content"] = .object(content) }
        }
        var headers = ["urgency": notification.isLow ? "low" : "normal"]
        if let room = notification.roomID, device.asks(for: "only_last_per_room") {
            let hash = Base64URL.encode(SHA256.hash(data: Array(room.utf8)))
            headers["topic"] = String(hash.prefix(Self.longestTopic))
        }
        return RawPart(headers: headers, payload: payload, replaces: true)
    }
}
