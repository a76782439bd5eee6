import CarillonCore
import CarillonEdge

extension MatrixPayload {
    /// For FCM: data alone, which the app shows by itself.
    var fcm: RawPart? {
        // Nothing would be shown, and nothing be counted down: apps for Android take it for a message.
        if notification.isBadgeUpdate, badge == nil || notification.counts.isZero { return nil }
        var data = JSONObject()
        for (key, value) in device.defaultPayload.members where !Self.isReserved(key) { data[key] = value }
        for (key, value) in notification.common(isText: true) { data[key] = value }
        data["prio"] = notification.isLow ? "normal" : "high"
        if !notification.isEventIDOnly, !notification.isBadgeUpdate {
            for (key, value) in notification.details { data[key] = value }
            for (key, value) in notification.texts { data[key] = value }
        }
        var android: JSONObject = [
            "priority": notification.isLow ? "NORMAL" : "HIGH", "ttl": .string("\(binding.timeToLive)s"),
        ]
        if notification.isBadgeUpdate { android["collapse_key"] = .string(MatrixTranslation.badgeKey) }
        return RawPart(payload: ["data": .object(data), "android": .object(android)], replaces: true)
    }

    /// What FCM keeps for itself: it would refuse the whole message.
    static func isReserved(_ key: String) -> Bool {
        ["from", "message_type"].contains(key) || key.hasPrefix("gcm") || key.hasPrefix("google")
    }
}

extension MatrixNotification {
    /// What every notification says, as numbers or as text.
    func common(isText: Bool) -> [(key: String, value: JSONValue)] {
        let count = { (number: Int) -> JSONValue in isText ? .string("\(number)") : JSONValue(number) }
        let members: [(key: String, value: JSONValue?)] = [
            ("event_id", eventID.map(JSONValue.string)), ("room_id", roomID.map(JSONValue.string)),
            ("unread", counts.unread.map(count)), ("missed_calls", counts.missedCalls.map(count)),
        ]
        return members.compactMap { key, value in value.map { (key, $0) } }
    }

    /// What the full format says beyond that, but for the content.
    var details: [(key: String, value: JSONValue)] {
        let members: [(key: String, value: String?)] = [
            ("type", type?.shortened(toCharacters: .max, bytes: MatrixPayload.longestText)),
            ("sender", sender?.shortened(toCharacters: .max, bytes: MatrixPayload.longestText)),
            ("sender_display_name", name(senderName)), ("room_name", name(roomName)), ("room_alias", name(roomAlias)),
            ("membership", membership?.shortened(toCharacters: .max, bytes: MatrixPayload.longestText)),
        ]
        return members.compactMap { key, value in value.map { (key, .string($0)) } }
    }

    fileprivate var texts: [(key: String, value: JSONValue)] {
        shownContent.members.compactMap { key, value in
            guard case .string(let text) = value else { return nil }
            if key == "body", body != nil { return ("content_body", MatrixPayload.body) }
            return ("content_\(key)", .string(text.shortened(toCharacters: .max, bytes: MatrixPayload.longestText)))
        }
    }
}
