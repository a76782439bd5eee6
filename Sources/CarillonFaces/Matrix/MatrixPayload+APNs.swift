import CarillonCore

extension MatrixPayload {
    var apns: RawPart? {
        if notification.isBadgeUpdate {
            return badge.map { part(["aps": ["badge": JSONValue($0)]]) }
        }
        var payload = JSONValue.object(device.defaultPayload)
        var aps = JSONObject()
        if !notification.isEventIDOnly {
            let alert = translation.alert
            aps["alert"] = ["loc-key": .string(alert.key), "loc-args": .array(alert.arguments)]
            aps["badge"] = badge.map { JSONValue($0) }
        }
        if binding.playsSound { aps["sound"] = device.sound.map(JSONValue.string) }
        if !aps.isEmpty { payload = payload.merging(patch: ["aps": .object(aps)]) }
        guard case .object(var root) = payload else { return nil }
        root["room_id"] = notification.roomID.map(JSONValue.string) ?? root["room_id"]
        root["event_id"] = notification.eventID.map(JSONValue.string) ?? root["event_id"]
        if notification.isEventIDOnly {
            root["unread_count"] = notification.counts.unread.map { JSONValue($0) } ?? root["unread_count"]
            root["missed_calls"] = notification.counts.missedCalls.map { JSONValue($0) } ?? root["missed_calls"]
        }
        return part(root)
    }

    private func part(_ payload: JSONObject) -> RawPart {
        let isBackground = binding.pushType == .background || payload.onlyWakes
        // Apple refuses to wake an app at once.
        let priority = isBackground || notification.isLow ? "5" : "10"
        return RawPart(
            headers: ["apns-push-type": isBackground ? "background" : "alert", "apns-priority": priority],
            payload: payload,
            replaces: true
        )
    }
}

extension JSONObject {
    fileprivate var onlyWakes: Bool {
        guard case .object(let aps)? = self["aps"] else { return false }
        let shown = ["alert", "badge", "sound"].contains { aps.contains($0) && aps[$0] != .some(.null) }
        guard !shown, case .number(let number)? = aps["content-available"] else { return false }
        return number.integer == 1
    }
}

extension MatrixNotification {
    /// What the app looks up in its own texts, and what it puts into them.
    struct Alert: Equatable {
        var key: String
        var arguments: [JSONValue]
    }

    var alert: Alert {
        let from = JSONValue.string(from ?? " ")
        let room = room.map(JSONValue.string)
        let text = MatrixPayload.body
        switch type {
        case "m.room.message", "m.room.encrypted": return message(from, room, text)
        case "m.call.invite":
            return Alert(key: hasVideo ? "VIDEO_CALL_FROM_USER" : "VOICE_CALL_FROM_USER", arguments: [from])
        case "m.room.member" where isInvitation:
            guard let room else { return Alert(key: "USER_INVITE_TO_CHAT", arguments: [from]) }
            return Alert(key: "USER_INVITE_TO_NAMED_ROOM", arguments: [from, room])
        default: return Alert(key: "MSG_FROM_USER", arguments: [from])
        }
    }

    private func message(_ from: JSONValue, _ room: JSONValue?, _ text: JSONValue) -> Alert {
        let hasText = body != nil
        switch (messageType, room) {
        case ("m.image", let room?): return Alert(key: "IMAGE_FROM_USER_IN_ROOM", arguments: [from, text, room])
        case ("m.image", nil): return Alert(key: "IMAGE_FROM_USER", arguments: [from, text])
        case ("m.emote", let room?) where hasText:
            return Alert(key: "ACTION_FROM_USER_IN_ROOM", arguments: [room, from, text])
        case ("m.emote", nil) where hasText: return Alert(key: "ACTION_FROM_USER", arguments: [from, text])
        case (_, let room?) where hasText:
            return Alert(key: "MSG_FROM_USER_IN_ROOM_WITH_CONTENT", arguments: [from, room, text])
        case (_, nil) where hasText: return Alert(key: "MSG_FROM_USER_WITH_CONTENT", arguments: [from, text])
        case (_, let room?): return Alert(key: "MSG_FROM_USER_IN_ROOM", arguments: [from, room])
        case (_, nil): return Alert(key: "MSG_FROM_USER", arguments: [from])
        }
    }

    /// Whether a call offers pictures: seen from its session description (RFC 8866).
    private var hasVideo: Bool { content["offer"]?["sdp"]?.text?.contains("m=video") == true }
}
