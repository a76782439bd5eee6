import CarillonCore

extension MatrixPayload {
    /// For FCM: data alone, which the app shows by itself.
    var fcm: RawPart? {
        // Nothing would be shown, and nothing be counted down: apps for Android take it for a message.
        if notification.isBadgeUpdate, badge == nil || notification.counts.isZero { return nil }
        var data = JSONObject()
        for (key, value) in device.defaultPayload.members where !Self.isReserved(key) { data[key] = value }
        data.merge(notification.common(isText: true))
        data["prio"] = notification.isLow ? "normal" : "high"
        if !notification.isEventIDOnly, !notification.isBadgeUpdate {
            data.merge(notification.details)
            data.merge(translation.contentTexts)
        }
        let android: JSONValue = [
            "priority": notification.isLow ? "NORMAL" : "HIGH", "ttl": .string("\(binding.timeToLive)s"),
            "collapse_key": notification.isBadgeUpdate ? .string(MatrixTranslation.badgeKey) : nil,
        ]
        return RawPart(payload: ["data": .object(data), "android": android], replaces: true)
    }

    /// What FCM keeps for itself: it would refuse the whole message.
    static func isReserved(_ key: String) -> Bool {
        ["from", "message_type"].contains(key) || key.hasPrefix("gcm") || key.hasPrefix("google")
    }
}

extension MatrixNotification {
    /// What every notification says, as numbers or as text.
    func common(isText: Bool) -> JSONObject {
        let count = { (number: Int) -> JSONValue in isText ? .string("\(number)") : JSONValue(number) }
        return [
            "event_id": eventID.map(JSONValue.string), "room_id": roomID.map(JSONValue.string),
            "unread": counts.unread.map(count), "missed_calls": counts.missedCalls.map(count),
        ]
    }

    /// What the full format says beyond that, but for the content.
    var details: JSONObject {
        let members = [
            ("type", type), ("sender", sender), ("sender_display_name", senderName), ("room_name", roomName),
            ("room_alias", roomAlias), ("membership", membership),
        ]
        return JSONObject(members.map { ($0, $1.map(JSONValue.string)) })
    }

    /// The content as apps for Android get it.
    var contentTexts: JSONObject {
        JSONObject(
            shownContent.members.map { key, value in
                if key == "body", body != nil { return ("content_body", value) }
                let text = value.text?.shortened(toCharacters: .max, bytes: MatrixPayload.longestText)
                return ("content_\(key)", text.map(JSONValue.string))
            }
        )
    }
}
