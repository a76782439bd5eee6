import CarillonCore
import CarillonTesting
import Testing

@testable import CarillonProviders

/// What each push service is sent of each wish: the table of the contract, row by row.
@Suite struct PushContentPayloadTests {
    private static let addresses: [ProviderName: DeviceAddress] = [
        .apns: .apns(token: "00ff", appID: "com.acme.chat", environment: .production),
        .fcm: .fcm(token: "token-1", appID: "com.acme.chat"),
        .webpush: .webpush(endpoint: "https://push.example/1", p256dh: "", auth: ""),
        .webhook: .webhook(url: "https://hooks.example/1"), .log: .log,
    ]
    private static let id = NotificationID(event: .example, device: DeviceID(trusted: "d-0"))

    private static func group(
        _ provider: ProviderName,
        _ content: PushContent?,
        title: String = "T",
        body: String = "B"
    ) throws -> DeliveryGroup {
        var group = DeliveryGroup.example(to: [try #require(addresses[provider])], title: title, body: body)
        group.sent.push.content = content
        if content != nil { group.cause.eventType = .notificationDirect }
        return group
    }

    private static func bytes(_ group: DeliveryGroup) -> (bytes: [UInt8], fits: Bool) {
        switch group.lane.provider {
        case .apns:
            let message = APNsMessage(group)
            return (message.payload, message.fits)
        case .fcm:
            let message = FCMMessage(group)
            return (
                message.body(to: "token-1", id: id, timeToLive: group.secondsLeft(at: group.cause.receivedAt)),
                message.fits
            )
        case .webpush:
            let message = WebPushMessage(group)
            return (message.plaintext(for: id), message.fits)
        case .webhook:
            let message = WebhookMessage(group, to: group.targets[0])
            return (message.body, message.fits)
        default:
            return (Array(LogLines(group).bytes.dropLast()), true)
        }
    }

    private static func payload(
        _ provider: ProviderName,
        _ content: PushContent?,
        title: String = "T",
        body: String = "B"
    ) throws -> JSONValue {
        try JSONValue(parsing: bytes(group(provider, content, title: title, body: body)).bytes)
    }

    /// What is at a place such as `/aps/badge`; `null` for nothing.
    private static func value(_ path: String, of json: JSONValue) -> JSONValue {
        path.split(separator: "/").reduce(json) { value, step in
            guard case .object(let object) = value else { return .null }
            return object[String(step)] ?? .null
        }
    }

    private static let text: JSONValue = ["title": "T", "body": "B"]
    private static let noted = PushContent(
        badge: 3,
        category: "BUILD",
        threadID: "builds",
        collapseKey: "build-81",
        imageURL: "https://example.com/i.png",
        priority: .normal
    )

    @Test(arguments: [
        (ProviderName.apns, PushContent.Kind.alert, "/aps/alert", text),
        (.apns, .alert, "/aps/content-available", .null),
        (.apns, .mixed, "/aps/alert", text), (.apns, .mixed, "/aps/content-available", 1),
        (.apns, .silent, "/aps", ["content-available": 1] as JSONValue),
        (.apns, .silent, "/eventType", "notification.direct"),
        (.fcm, .alert, "/message/notification", text), (.fcm, .mixed, "/message/notification", text),
        (.fcm, .silent, "/message/notification", .null), (.fcm, .silent, "/message/android/notification", .null),
        (.fcm, .silent, "/message/android/priority", "NORMAL"), (.fcm, .alert, "/message/android/priority", "HIGH"),
        (.fcm, .silent, "/message/data/eventType", "notification.direct"), (.webpush, .alert, "/title", "T"),
        (.webpush, .mixed, "/body", "B"), (.webpush, .silent, "/title", .null),
        (.webhook, .alert, "/data/kind", "alert"),
        (.webhook, .silent, "/data/kind", "silent"), (.webhook, .mixed, "/data/kind", "mixed"),
        (.log, .mixed, "/kind", "mixed"),
    ])
    func `a kind is what the service makes of it`(
        provider: ProviderName,
        kind: PushContent.Kind,
        path: String,
        expected: JSONValue
    ) throws {
        #expect(Self.value(path, of: try Self.payload(provider, PushContent(kind: kind))) == expected)
    }

    @Test(arguments: [
        (ProviderName.apns, "/aps/badge", 3 as JSONValue), (.apns, "/aps/sound", "default"),
        (.apns, "/aps/category", "BUILD"), (.apns, "/aps/thread-id", "builds"), (.apns, "/aps/mutable-content", 1),
        (.apns, "/imageUrl", "https://example.com/i.png"),
        (.fcm, "/message/android/notification/notification_count", 3),
        (.fcm, "/message/android/notification/sound", "default"),
        (.fcm, "/message/android/notification/click_action", "BUILD"),
        (.fcm, "/message/android/notification/tag", "build-81"), (.fcm, "/message/android/collapse_key", "build-81"),
        (.fcm, "/message/notification/image", "https://example.com/i.png"),
        (.fcm, "/message/android/priority", "NORMAL"), (.fcm, "/message/android/ttl", "86400s"),
        (.webpush, "/data/badge", 3), (.webpush, "/tag", "build-81"), (.webpush, "/image", "https://example.com/i.png"),
        (.webhook, "/data/badge", 3), (.webhook, "/data/sound", "default"), (.webhook, "/data/category", "BUILD"),
        (.webhook, "/data/threadId", "builds"), (.webhook, "/data/collapseKey", "build-81"),
        (.webhook, "/data/imageUrl", "https://example.com/i.png"), (.webhook, "/data/priority", "normal"),
        (.log, "/badge", 3), (.log, "/priority", "normal"),
    ])
    func `each wish stands where the service looks for it`(
        provider: ProviderName,
        path: String,
        expected: JSONValue
    ) throws {
        #expect(Self.value(path, of: try Self.payload(provider, Self.noted)) == expected)
    }

    @Test(arguments: [
        (ProviderName.apns, "/aps/thread-id"), (.webhook, "/data/threadId"), (.log, "/threadId"),
    ])
    func `without a thread of its own it stands in that of its channel`(provider: ProviderName, path: String) throws {
        let channel = try #require(try Self.group(provider, PushContent()).cause.channel).id.rawValue
        #expect(Self.value(path, of: try Self.payload(provider, PushContent())) == .string(channel))
    }

    @Test(arguments: [
        (ProviderName.apns, "/n", 7 as JSONValue), (.apns, "/deep", ["a": .null] as JSONValue),
        (.fcm, "/message/data/n", "7"),
        (.fcm, "/message/data/deep", #"{"a":null}"#), (.fcm, "/message/data/text", "é"), (.webpush, "/data/n", 7),
        (.webhook, "/data/data/n", 7), (.log, "/data/n", 7),
    ])
    func `data comes to the app as the service can carry it`(
        provider: ProviderName,
        path: String,
        expected: JSONValue
    ) throws {
        var data = JSONObject()
        data["n"] = 7
        data["deep"] = ["a": .null]
        data["text"] = "é"
        #expect(Self.value(path, of: try Self.payload(provider, PushContent(data: data))) == expected)
    }

    @Test(arguments: ProviderName.allCases.filter { $0 != .log })
    func `without the envelope there is nothing of ours`(provider: ProviderName) throws {
        let bytes = Self.bytes(try Self.group(provider, PushContent(collapseKey: "k", hasEnvelope: false))).bytes
        let text = String(decoding: bytes, as: UTF8.self)
        for key in ["eventId", "eventType", "networkId", "notificationId", "notification.direct", "channelId"] {
            #expect(!text.contains(key))
        }
    }

    @Test(arguments: ProviderName.allCases, [nil, PushContent()])
    func `what belongs to no channel names none`(provider: ProviderName, content: PushContent?) throws {
        var group = try Self.group(provider, content)
        group.cause.channel = nil
        let text = String(decoding: Self.bytes(group).bytes, as: UTF8.self)
        #expect(!text.contains("channel") && !text.contains("thread-id"))
        #expect(text.contains(content == nil ? "member.joined" : "notification.direct"))
    }

    @Test(arguments: ProviderName.allCases)
    func `data that were added to an event change nothing else of its payload`(provider: ProviderName) throws {
        var group = try Self.group(provider, nil, body: "")
        let built = try JSONValue(parsing: Self.bytes(group).bytes)
        let places: [ProviderName: [String]] = [
            .fcm: ["message", "data"], .webpush: ["data"], .webhook: ["data", "data"], .log: ["data"],
        ]
        let path = places[provider] ?? []
        group.sent.push.content = PushContent(data: ["flag": "1"])
        let edited = try JSONValue(parsing: Self.bytes(group).bytes)
        #expect(Self.value((path + ["flag"]).joined(separator: "/"), of: edited) == "1")
        var patch: JSONValue = ["flag": "1"]
        for step in path.reversed() { patch = .object([step: patch]) }
        #expect(built.merging(patch: patch) == edited)
    }

    @Test func `silence is no sound, and a sound has its name`() throws {
        #expect(Self.value("/aps/sound", of: try Self.payload(.apns, PushContent(sound: .none))) == .null)
        #expect(Self.value("/aps/sound", of: try Self.payload(.apns, PushContent(sound: .named("ping")))) == "ping")
        let android = try Self.payload(.fcm, PushContent(sound: .named("ping")))
        #expect(Self.value("/message/android/notification/sound", of: android) == "ping")
    }

    @Test func `what has no title shows none`() throws {
        let alert = Self.value("/aps/alert", of: try Self.payload(.apns, PushContent(), title: ""))
        #expect(alert == ["body": "B"])
        #expect(Self.value("/aps/alert", of: try Self.payload(.apns, PushContent(), title: "", body: "")) == .null)
    }

    @Test(arguments: ProviderName.allCases)
    func `content that says nothing leaves an event's payload as it is`(provider: ProviderName) throws {
        var group = try Self.group(provider, nil)
        let built = Self.bytes(group).bytes
        group.sent.push.content = PushContent()
        #expect(Self.bytes(group).bytes == built)
    }

    @Test(arguments: [
        (PushContent.Kind.alert, nil as PushContent.Priority?, "alert", "10"), (.alert, .high, "alert", "10"),
        (.alert, .normal, "alert", "5"), (.mixed, .low, "alert", "1"), (.silent, .high, "background", "5"),
    ])
    func `APNs is told how much it matters`(
        kind: PushContent.Kind,
        priority: PushContent.Priority?,
        pushType: String,
        expected: String
    ) throws {
        let message = APNsMessage(try Self.group(.apns, PushContent(kind: kind, priority: priority)))
        #expect(message.pushType == pushType)
        #expect(message.priority == expected)
        let browser = WebPushMessage(try Self.group(.webpush, PushContent(kind: kind, priority: priority)))
        #expect(browser.urgency == (priority ?? .high).rawValue)
    }

    @Test func `a phone is woken for what is silent only if somebody said so`() throws {
        let path = "/message/android/priority"
        #expect(Self.value(path, of: try Self.payload(.fcm, PushContent(kind: .silent, priority: .high))) == "HIGH")
        #expect(Self.value(path, of: try Self.payload(.fcm, PushContent(kind: .silent, priority: .low))) == "NORMAL")
    }

    @Test func `push services keep it for as long as was asked for`() throws {
        let long = PushContent(timeToLive: 172_800)
        #expect(APNsMessage(try Self.group(.apns, long)).expiration == "1763805600")
        #expect(APNsMessage(try Self.group(.apns, PushContent(timeToLive: 0))).expiration == "0")
        let android = try Self.payload(.fcm, long)
        #expect(Self.value("/message/android/ttl", of: android) == "172800s")
        let group = try Self.group(.webpush, long)
        #expect(group.secondsLeft(at: group.cause.receivedAt + .seconds(100)) == 172_700)
    }

    @Test func `no second of what was asked for is lost to the way`() throws {
        for (asked, milliseconds, told) in [
            (3_600, 40, 3_600), (1, 40, 1), (1, 999, 1), (1, 1_000, 0), (2, 1_001, 1), (0, 0, 0), (5, -700, 5),
        ] {
            let group = try Self.group(.fcm, PushContent(timeToLive: asked))
            let now = group.cause.receivedAt + .milliseconds(milliseconds)
            #expect(group.secondsLeft(at: now) == told, "\(asked) s after \(milliseconds) ms")
        }
        var group = try Self.group(.apns, PushContent(timeToLive: 1))
        let received = group.cause.receivedAt
        group.cause.receivedAt = received + .milliseconds(40)
        #expect(APNsMessage(group).expiration == "\(received.milliseconds / 1_000 + 2)")
    }

    @Test(arguments: ["a\r\nb", "ü", "two words", "\u{7F}"])
    func `collapse keys are hashed where a header cannot hold them`(key: String) throws {
        let hashed = try #require(APNsMessage(try Self.group(.apns, PushContent(collapseKey: key))).collapseID)
        #expect(hashed.utf8.allSatisfy { (0x21..<0x7F).contains($0) })
    }

    @Test func `collapse keys are hashed where they are too long`() throws {
        let long = String(repeating: "k", count: 65)
        #expect(APNsMessage(try Self.group(.apns, PushContent(collapseKey: "k"))).collapseID == "k")
        let hashed = try #require(APNsMessage(try Self.group(.apns, PushContent(collapseKey: long))).collapseID)
        #expect(hashed.utf8.count <= 64 && hashed != long)
        let topic = WebPushMessage(try Self.group(.webpush, PushContent(collapseKey: "k"))).topic(of: Self.id)
        #expect(topic.count == 32 && topic != WebPushMessage.topic(for: Self.id))
    }

    @Test func `headers of a raw part go before those that are built`() throws {
        let headers = [
            "apns-push-type": "voip", "apns-priority": "1", "apns-expiration": "7", "apns-collapse-id": "c",
            "apns-topic": "com.acme.chat.voip",
        ]
        let message = APNsMessage(try Self.group(.apns, PushContent(parts: [.apns: RawPart(headers: headers)])))
        #expect([message.pushType, message.priority, message.expiration] == ["voip", "1", "7"])
        #expect(message.collapseID == "c")
        #expect(message.topic(of: "com.acme.chat") == "com.acme.chat.voip")
        #expect(message.topic(of: "com.acme.other") == nil)
        #expect(message.topic(of: "com.acme.cha") == nil)
        // Apple takes no other one of what is for the background.
        for (asked, told) in [(nil, "5"), ("10", "5"), ("1", "1")] {
            var background = RawPart(headers: ["apns-push-type": "background"])
            background.headers["apns-priority"] = asked
            #expect(APNsMessage(try Self.group(.apns, PushContent(parts: [.apns: background]))).priority == told)
        }
        let silent = PushContent(kind: .silent, parts: [.apns: RawPart(headers: ["apns-priority": "10"])])
        #expect(APNsMessage(try Self.group(.apns, silent)).priority == "5")
        let part = RawPart(headers: ["ttl": "5", "urgency": "very-low", "topic": "t"])
        let browser = WebPushMessage(try Self.group(.webpush, PushContent(parts: [.webpush: part])))
        #expect([browser.timeToLive, browser.urgency, browser.topic(of: Self.id)] == ["5", "very-low", "t"])
    }

    private static func part(_ payload: JSONValue, kind: PushContent.Kind? = nil, replaces: Bool = false) -> RawPart {
        guard case .object(let object) = payload else { return RawPart() }
        return RawPart(kind: kind, payload: object, replaces: replaces)
    }

    @Test func `a raw part is a merge patch, with the text where it asks for it`() throws {
        let patch: JSONValue = [
            "aps": ["mutable-content": 1, "sound": .null, "alert": ["subtitle": ["$text": "title"]]],
            "list": [["$text": "body"]], "eventId": .null,
        ]
        let payload = try Self.payload(
            .apns,
            PushContent(parts: [.apns: Self.part(patch), .fcm: Self.part(["x": "y"])])
        )
        #expect(
            payload == [
                "aps": [
                    "alert": ["title": "T", "body": "B", "subtitle": "T"], "thread-id": "general", "mutable-content": 1,
                ],
                "eventType": "notification.direct", "networkId": "acme", "channelId": "general", "list": ["B"],
            ]
        )
    }

    @Test func `a raw part that replaces is all there is`() throws {
        let part = Self.part(["hello": ["$text": "body"]], replaces: true)
        let parts: [ProviderName: RawPart] = [.apns: part, .webpush: part]
        #expect(try Self.payload(.apns, PushContent(badge: 1, parts: parts)) == ["hello": "B"])
        #expect(try Self.payload(.webpush, PushContent(badge: 1, parts: parts)) == ["hello": "B"])
        let message = Self.part(["data": ["alert": ["$text": "body"], "payload": ["a": 1]]], replaces: true)
        #expect(
            try Self.payload(.fcm, PushContent(badge: 1, parts: [.fcm: message]))
                == ["message": ["token": "token-1", "data": ["alert": "B", "payload": #"{"a":1}"#]]]
        )
    }

    @Test func `a raw part may be of another kind`() throws {
        let content = PushContent(parts: [.fcm: Self.part([:], kind: .silent), .apns: Self.part([:], kind: .mixed)])
        #expect(Self.value("/message/notification", of: try Self.payload(.fcm, content)) == .null)
        #expect(Self.value("/aps/content-available", of: try Self.payload(.apns, content)) == 1)
        #expect(Self.value("/data/kind", of: try Self.payload(.webhook, content)) == "alert")
    }

    @Test(arguments: [ProviderName.apns, .fcm, .webpush, .webhook], ["x", "👩‍👩‍👧‍👦", "\"", "e\u{301}"])
    func `text is cut wherever it stands, and nothing else is`(provider: ProviderName, character: String) throws {
        var data = JSONObject()
        data["blob"] = .string(String(repeating: "d", count: 1_000))
        let patch = Self.part(["copy": ["$text": "body"], "data": ["inner": ["text": ["$text": "body"]]]])
        let content = PushContent(data: data, parts: [.apns: patch, .fcm: patch, .webpush: patch])
        let body = String(repeating: character, count: 4_000)
        let (bytes, fits) = Self.bytes(try Self.group(provider, content, body: body))
        let limit = provider == .webpush ? WebPushMessage.maximumBytes : 4_096
        #expect(fits)
        #expect(bytes.count <= limit && bytes.count > limit - 400)
        let payload = try JSONValue(parsing: bytes)
        if provider == .apns, case .string(let copy) = Self.value("/copy", of: payload) {
            #expect(copy.last == "…" && body.hasPrefix(copy.dropLast()))
            #expect(Self.value("/aps/alert/body", of: payload) == .string(copy))
        }
    }

    @Test(arguments: [ProviderName.apns, .fcm, .webpush])
    func `the title is whole while the body can give way`(provider: ProviderName) throws {
        let title = String(repeating: "t", count: 3_000)
        let body = String(repeating: "b", count: 3_000)
        let payload = try Self.payload(provider, PushContent(), title: title, body: body)
        let path = [.apns: "/aps/alert", .fcm: "/message/notification"][provider] ?? ""
        #expect(Self.value(path + "/title", of: payload) == .string(title))
        let cut = try #require(Self.value(path + "/body", of: payload).text)
        #expect(cut.last == "…" && body.hasPrefix(cut.dropLast()))
    }

    @Test(arguments: [ProviderName.apns, .fcm, .webpush, .webhook])
    func `what is too large without any text is not sent`(provider: ProviderName) throws {
        var data = JSONObject()
        data["blob"] = .string(String(repeating: "\"", count: 2_100))
        #expect(Self.bytes(try Self.group(provider, PushContent(data: data))).fits == false)
    }
}
