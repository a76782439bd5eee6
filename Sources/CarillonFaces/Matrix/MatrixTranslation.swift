import CarillonCore

/// Makes Carillon's events of a homeserver's notification: one for each device, so that each is recognised when it is repeated.
final class MatrixTranslation {
    /// What an update of the badge replaces: the one before it.
    static let badgeKey = "badge"
    /// No push service takes half of it: beyond this a payload is not kept whole, since it would be kept for each device.
    private static let largestPart = 8_192
    /// What is looked at of a text; a payload has room for less.
    private static let longestBody = 8_192

    let notification: MatrixNotification
    let now: Timestamp
    /// What apps for iOS look up, made once for all devices.
    private(set) lazy var alert = notification.alert
    /// What payloads have of the content; no more of it than shows that no push service takes it.
    private(set) lazy var shownContent = notification.shownContent.bounded(to: Self.largestPart)
    private(set) lazy var contentTexts = notification.contentTexts.bounded(to: Self.largestPart)

    init(notification: MatrixNotification, now: Timestamp) {
        (self.notification, self.now) = (notification, now)
    }

    /// The event for one device; `nil` when there is nothing to send to it.
    func event(
        for device: MatrixNotification.Device,
        _ audience: Audience,
        _ binding: MatrixBinding,
        _ provider: ProviderName,
        texts: DirectTexts? = nil
    ) -> ParsedEvent? {
        let payload = MatrixPayload(translation: self, device: device, binding: binding)
        guard var content = payload.content(for: provider, isShown: texts != nil) else { return nil }
        let (sourceID, texts) = (sourceID(for: device), texts ?? ownTexts)
        let event = event(sourceID, DirectNotification(to: audience, texts: texts, content: content))
        // None of its parts is longer than all of it.
        guard event.body.count > Self.largestPart else { return event }
        for (provider, part) in content.parts {
            content.parts[provider]?.payload = part.payload.bounded(to: Self.largestPart)
        }
        content.data = content.data.bounded(to: Self.largestPart)
        return self.event(sourceID, DirectNotification(to: audience, texts: texts, content: content))
    }

    private func event(_ sourceID: String, _ direct: DirectNotification) -> ParsedEvent {
        let event = Event(
            sourceID: sourceID,
            type: .notificationDirect,
            timestamp: now,
            channel: notification.roomID.flatMap { ChannelID($0) }.map { Channel(id: $0) },
            direct: direct
        )
        return ParsedEvent(sourceID: sourceID, content: .known(event), body: event.canonicalJSON.serialized)
    }

    /// What a template is to say: who wrote, where and what; `nil` where the homeserver does not say it.
    private(set) lazy var subject = makeSubject()
    /// What is shown where no template is asked.
    private lazy var ownTexts = makeOwnTexts()

    private func makeSubject() -> NotificationSubject? {
        guard !notification.isBadgeUpdate, !notification.isEventIDOnly else { return nil }
        let said = Message(matrixType: notification.type ?? "", content: notification.content)
        var message = said ?? Message(kind: .other, text: "")
        message.text = message.text.shortened(toCharacters: Self.longestBody, bytes: Self.longestBody)
        var subject = NotificationSubject(.messageSent, channel: notification.room)
        subject.tell(message, from: notification.from ?? "")
        return subject
    }

    private func makeOwnTexts() -> DirectTexts {
        guard !notification.isBadgeUpdate, !notification.isEventIDOnly else { return DirectTexts() }
        let body = notification.body?.shortened(toCharacters: Self.longestBody, bytes: Self.longestBody)
        return DirectTexts(DirectTexts.Text(title: notification.title, body: body))
    }

    /// What a repeated notification is recognised by: the event, for this app on this device.
    private func sourceID(for device: MatrixNotification.Device) -> String {
        guard let event = notification.eventID else {
            return "m:" + Base64URL.encode(randomBytes(32))
        }
        return "m:" + Base64URL.encode([event, device.appID, device.pushkey].digest)
    }
}

extension MatrixPayload {
    /// What is sent beyond title and body; `nil` when there is nothing to send.
    fileprivate func content(for provider: ProviderName, isShown: Bool) -> PushContent? {
        var content = PushContent()
        content.badge = badge
        content.priority = notification.isLow ? .normal : .high
        content.timeToLive = binding.timeToLive
        content.hasEnvelope = false
        if notification.isBadgeUpdate {
            content.collapseKey = MatrixTranslation.badgeKey
            content.isRetried = false
        }
        if isShown {
            content.sound = binding.payload == .buzz ? .standard : sound
            if binding.payload == .text { content.data = data }
            if binding.payload == .buzz { content.parts[provider] = buzz(for: provider) }
            return content
        }
        guard var part = part(for: provider) else { return nil }
        if binding.payload == .buzz, !notification.isBadgeUpdate { part.add(buzzKeys(for: provider), for: provider) }
        content.parts[provider] = part
        return content
    }

    /// What is heard: nothing, unless the app wants to be told.
    private var sound: PushContent.Sound {
        guard binding.playsSound, let sound = device.sound else { return .none }
        return sound == "default" || sound.utf8.count > PushContent.longestSound ? .standard : .named(sound)
    }

    private var data: JSONObject {
        var data = JSONObject()
        for (key, value) in device.defaultPayload.members where key != "aps" && !Self.isReserved(key) {
            data[key] = value
        }
        data["channelId"] = notification.roomID.map(JSONValue.string)
        data.merge(notification.common(isText: false))
        return data
    }
}

extension JSONObject {
    /// The members, or, where they take more than so many bytes, as much of them as shows that no push service takes them.
    fileprivate func bounded(to limit: Int) -> JSONObject {
        guard JSONValue.object(self).serialized.count > limit else { return self }
        var kept = JSONObject()
        var room = limit
        for (key, value) in members {
            let bytes = value.serialized
            let size = key.utf8.count + bytes.count
            guard size > room else {
                kept[key] = value
                room -= size
                continue
            }
            let name = String(decoding: key.utf8.prefix(room), as: UTF8.self)
            // Another one's name is as long as there was room left, so that what is kept is more than half of all.
            guard !kept.contains(name) else { break }
            kept[name] = .string(String(decoding: bytes.prefix(max(0, room - key.utf8.count)), as: UTF8.self))
            break
        }
        return kept
    }
}
