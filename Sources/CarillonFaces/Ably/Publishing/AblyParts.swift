import CarillonCore

struct AblyAPNsPart: Sendable {
    /// The part in Carillon's words; `nil` where nothing was written.
    let json: JSONObject?
    /// How many headers were left out that are not the sender's to set.
    let droppedHeaders: Int

    init(_ apns: JSONObject, _ shown: AblyNotification, isSilent: Bool) throws(AblyError) {
        var payload = apns
        let written = try apns.ablyObject("apns-headers", else: AblyError.malformed) ?? JSONObject()
        let headers = try Self.headers(written)
        droppedHeaders = written.keys.count { !ProviderName.apns.kind.lets(header: $0) }
        let stray = try apns.ablyObject("notification", else: AblyError.malformed) ?? JSONObject()
        payload["apns-headers"] = nil
        payload["notification"] = nil
        let patch = JSONValue.object(stray).followed(byPatch: try apns.ablyPatch("aps"))
        var aps = patch.object ?? JSONObject()
        if let key = shown.collapseKey, !aps.contains("thread-id") { aps["thread-id"] = .string(key) }
        payload["aps"] = aps.isEmpty ? patch == .null ? .null : nil : .object(aps)
        guard !payload.isEmpty || !headers.isEmpty else {
            json = nil
            return
        }
        let isShown = ["alert", "badge", "sound"].contains { key in aps.contains(key) && aps[key] != .some(.null) }
        json = [
            "kind": isSilent && isShown ? "alert" : nil, "headers": headers.isEmpty ? nil : .object(headers),
            "payload": payload.isEmpty ? nil : .object(payload),
        ]
    }

    private static func headers(_ object: JSONObject) throws(AblyError) -> JSONObject {
        var headers = JSONObject()
        for (name, value) in object.members where ProviderName.apns.kind.lets(header: name) {
            switch value {
            case .string: headers[name] = value
            case .number(let number): headers[name] = .string(number.literal)
            case .null: break
            default: throw .malformed("a header of apns-headers must be a string")
            }
        }
        return headers
    }
}

/// What somebody wrote for Google's devices, for the API of today or for the one before: what the former does not take where the
/// latter had it is put where it takes it.
struct AblyFCMPart: Sendable {
    /// Where a message goes is not the payload's to say.
    private static let targets = ["token", "topic", "condition", "to", "registration_ids"]
    /// What only the former API knew, and what means nothing today.
    private static let obsolete: Set<String> = ["content_available", "delay_while_idle", "dry_run", "mutable_content"]
    private static let shared: Set<String> = ["title", "body", "image"]
    private static let renamed = ["android_channel_id": "channel_id"]

    /// The part in Carillon's words; `nil` where nothing was written.
    let json: JSONObject?

    init(_ fcm: JSONObject, _ shown: AblyNotification, isSilent: Bool) throws(AblyError) {
        guard !Self.targets.contains(where: fcm.contains) else {
            throw .malformed("fcm must not name a token, a topic or a condition")
        }
        var message = JSONObject()
        var android: JSONObject = ["collapse_key": shown.collapseKey.map(JSONValue.string)]
        var androidNotification: JSONObject = ["icon": shown.icon.map(JSONValue.string)]
        for (key, value) in fcm.members where !Self.obsolete.contains(key) {
            switch key {
            case "notification":
                if value == .null {
                    message["notification"] = .null
                    continue
                }
                guard case .object(let written) = value else { throw .malformed("fcm.notification must be an object") }
                var notification = JSONObject()
                for (name, value) in written.members {
                    if Self.shared.contains(name) {
                        notification[name] = value
                    } else {
                        androidNotification[Self.renamed[name] ?? name] = value
                    }
                }
                if !notification.isEmpty { message["notification"] = .object(notification) }
            case "collapse_key", "restricted_package_name": android[key] = value
            case "priority": android["priority"] = Self.priority(value)
            case "time_to_live": android["ttl"] = try Self.duration(value)
            case "android": break
            default: message[key] = value
            }
        }
        if !androidNotification.isEmpty { android["notification"] = .object(androidNotification) }
        let merged = JSONValue.object(android).followed(byPatch: try fcm.ablyPatch("android"))
        if merged != .object(JSONObject()) { message["android"] = merged }
        guard !message.isEmpty else {
            json = nil
            return
        }
        let isShown = JSONValue.object(message)["notification"] != nil || merged["notification"] != nil
        json = ["message": .object(message), "kind": isSilent && isShown ? "alert" : nil]
    }

    private static func priority(_ value: JSONValue) -> JSONValue {
        if case .string(let text) = value { .string(text.uppercased()) } else { value }
    }

    private static func duration(_ value: JSONValue) throws(AblyError) -> JSONValue {
        if value == .null { return .null }
        let seconds: Int? =
            switch value {
            case .number(let number): number.integer
            case .string(let text): Int(text)
            default: nil
            }
        guard let seconds, seconds >= 0 else { throw .malformed("fcm.time_to_live must be a number of seconds") }
        return .string("\(min(seconds, PushContent.longestTimeToLive))s")
    }
}
