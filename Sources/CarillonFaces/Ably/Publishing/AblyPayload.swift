import CarillonCore

/// What is to be pushed, as Ably's clients write it, in the words of Carillon's own API (FACES E6 and B1).
struct AblyPayload: Sendable {
    /// The most that `data` and one raw part may take, in bytes: what is longer, no push service takes.
    private static let largestBytes = 3_072

    /// The members of a direct notification: all but its id and whom it is for.
    let fields: JSONObject
    /// How many headers were left out that are not the sender's to set.
    let droppedHeaders: Int

    /// Reads a payload.
    /// - Throws: 40000, and 40009 for what is too large.
    init(_ payload: JSONObject) throws(AblyError) {
        let notification = try payload.ablyObject("notification", else: AblyError.malformed)
        let data = try payload.ablyObject("data", else: AblyError.malformed)
        let apns = try payload.ablyObject("apns", else: AblyError.malformed)
        let fcm = try payload.ablyObject(payload.contains("fcm") ? "fcm" : "gcm", else: AblyError.malformed)
        let web = try payload.ablyObject("web", else: AblyError.malformed)
        guard notification != nil || data != nil || apns != nil || fcm != nil || web != nil else {
            throw .malformed("one of notification, data, apns, fcm and web is needed")
        }
        let shown = try AblyNotification(notification ?? JSONObject())
        // What says nothing shows nothing.
        let isSilent = notification?.isEmpty ?? true
        guard
            shown.title != nil || shown.body != nil || isSilent && data != nil || apns != nil || fcm != nil
                || web != nil
        else { throw .malformed("a notification needs a title or a body") }
        let apple = try AblyAPNsPart(apns ?? JSONObject(), shown, isSilent: isSilent)
        let google = try AblyFCMPart(fcm ?? JSONObject(), shown, isSilent: isSilent)
        droppedHeaders = apple.droppedHeaders
        var fields: JSONObject = [
            "envelope": false, "kind": isSilent ? "silent" : nil, "title": shown.title.map(JSONValue.string),
            "body": shown.body.map(JSONValue.string), "sound": shown.sound.map(JSONValue.string),
            "ttlSeconds": shown.timeToLive.map { JSONValue($0) },
            "data": data.flatMap { $0.isEmpty ? nil : .object($0) }, "apns": apple.json.map(JSONValue.object),
            "fcm": google.json.map(JSONValue.object),
        ]
        try Self.checkSizes(of: fields)
        if !isSilent || web != nil {
            let parts = Self.webParts(shown, web ?? JSONObject(), data ?? JSONObject())
            let fitting = parts.first { part in Self.size(of: data) + Self.size(of: part) <= Self.largestBytes }
            guard fitting != nil || web == nil else { throw .tooLarge("data and web may take 3072 bytes together") }
            // Without one, browsers get what they get from everybody else, and what has no words is shown to them all the same.
            if let fitting {
                fields["webpush"] = ["payload": .object(fitting), "replace": true]
            } else if shown.title == nil, shown.body == nil {
                fields["webpush"] = ["payload": ["notification": [:]]]
            }
        }
        self.fields = fields
    }

    /// What browsers get: the data in both places where service workers look for it, or in the one that fits.
    private static func webParts(_ shown: AblyNotification, _ web: JSONObject, _ data: JSONObject) -> [JSONObject] {
        var notification: JSONObject = [
            "title": shown.title.map { _ in ["$text": "title"] }, "body": shown.body.map { _ in ["$text": "body"] },
            "icon": shown.icon.map(JSONValue.string),
        ]
        for (key, value) in web.members where key != "notification" { notification[key] = value }
        if let written = web["notification"]?.object { notification.merge(written) }
        guard !data.isEmpty else { return [["notification": .object(notification)]] }
        notification["data"] = JSONValue.object(data).merging(patch: notification["data"] ?? .object(JSONObject()))
        return [
            ["notification": .object(notification), "data": .object(data)], ["notification": .object(notification)],
        ]
    }

    private static func checkSizes(of fields: JSONObject) throws(AblyError) {
        let data = size(of: fields["data"]?.object)
        for part in [nil, fields["apns"]?["payload"]?.object, fields["fcm"]?["message"]?.object]
        where data + size(of: part) > largestBytes {
            throw .tooLarge("data and what is written for one push service may take 3072 bytes together")
        }
    }

    private static func size(of object: JSONObject?) -> Int {
        guard let object, !object.isEmpty else { return 0 }
        return JSONValue.object(object).serialized.count
    }
}

/// What all push services show alike.
struct AblyNotification: Sendable {
    var title: String?
    var body: String?
    var icon: String?
    var sound: String?
    /// In Ably's words: Google's collapse key, and what Apple shows things together by.
    var collapseKey: String?
    /// In seconds, within what push services take.
    var timeToLive: Int?

    init(_ object: JSONObject) throws(AblyError) {
        func text(_ key: String) throws(AblyError) -> String? {
            try object.ablyText(key, orNone: "") { .malformed("notification.\($0)") }
        }
        title = try text("title")
        body = try text("body")
        icon = try text("icon")
        sound = try text("sound")
        collapseKey = try text("collapseKey")
        switch object["ttl"] {
        case nil, .null: break
        case .number(let number):
            guard let seconds = number.double else { throw .malformed("notification.ttl must be a number of seconds") }
            timeToLive = Int(min(max(seconds, 0), Double(PushContent.longestTimeToLive)))
        case .string(let text):
            guard let seconds = Int(text) else { throw .malformed("notification.ttl must be a number of seconds") }
            timeToLive = min(max(seconds, 0), PushContent.longestTimeToLive)
        default: throw .malformed("notification.ttl must be a number of seconds")
        }
    }
}
