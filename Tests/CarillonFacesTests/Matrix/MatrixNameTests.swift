import CarillonCore
import CarillonEdge
import Testing

@testable import CarillonFaces

/// FACES section D4: what users call themselves and their rooms is never a reason to refuse a push.
@Suite struct MatrixNameTests {
    private static let deep = String(repeating: "[", count: 100) + "7" + String(repeating: "]", count: 100)
    private static let none = [
        "7", "true", "null", "{}", #"["x"]"#, #"{"a":["\u0000",1e400]}"#, deep, #""""#, #"" ""#, #""\t\n""#,
        #""\u0000\ud800""#, #""\u007f\u0085""#, #""\u2028\u202e\u2066""#, #""\u200b\ufeff""#,
    ]

    @Test(arguments: none)
    func `a name that is no text, or of which nothing is seen, is none`(_ name: String) throws {
        let notification = try Self.notification(
            #""sender":"@a:x","sender_display_name":\#(name),"room_name":\#(name),"room_alias":\#(name)"#
        )
        let text: JSONValue = ["$text": "body"]
        let alert = MatrixNotification.Alert(key: "MSG_FROM_USER_WITH_CONTENT", arguments: ["@a:x", text])
        #expect(notification.alert == alert)
        #expect(notification.details.keys == ["type", "sender"])
        #expect(try Self.title(of: notification) == "@a:x")
        let subject = MatrixTranslation(notification: notification, now: Self.zero).subject
        #expect(subject == NotificationSubject(.messageSent, .text, user: "@a:x", channel: nil, words: "hi"))
    }

    @Test(arguments: none)
    func `a room without a name that is seen goes by its alias, and its sender by their name`(_ name: String) throws {
        let notification = try Self.notification(
            ##""sender":"@a:x","sender_display_name":"Alice","room_name":\##(name),"room_alias":"#lobby:x""##
        )
        #expect(try Self.title(of: notification) == "Alice (#lobby:x)")
        #expect(notification.alert.key == "MSG_FROM_USER_IN_ROOM_WITH_CONTENT")
        #expect(notification.alert.arguments.prefix(2) == ["Alice", "#lobby:x"])
        let nameless = try Self.notification(
            #""sender":"@a:x","sender_display_name":"Alice","room_name":\#(name)"#
        )
        #expect(try Self.title(of: nameless) == "Alice")
        let roomOnly = try Self.notification(
            #""sender":"@a:x","sender_display_name":\#(name),"room_name":"Lobby""#
        )
        #expect(try Self.title(of: roomOnly) == "@a:x (Lobby)")
    }

    @Test(arguments: ["event_id", "room_id", "type", "sender", "membership", "prio", "user_is_target", "counts"])
    func `what no user wrote is refused where it is of a wrong type`(_ key: String) {
        let body = #"{"notification":{"\#(key)":["x"],"devices":[{"app_id":"a","pushkey":"p"}]}}"#
        #expect(throws: Problem.self) { try MatrixNotification(body: Array(body.utf8)) }
    }

    private static let zero = Timestamp(milliseconds: 0)

    private static func notification(_ members: String) throws -> MatrixNotification {
        let content = #""type":"m.room.message","content":{"msgtype":"m.text","body":"hi"}"#
        let devices = #""devices":[{"app_id":"a","pushkey":"p"}]"#
        let body = #"{"notification":{"event_id":"$e",\#(members),\#(content),\#(devices)}}"#
        return try MatrixNotification(body: Array(body.utf8))
    }

    private static func title(of notification: MatrixNotification) throws -> String? {
        let parsed = MatrixTranslation(notification: notification, now: zero)
            .event(for: notification.devices[0], .everyone, MatrixBinding(provider: .apns), .apns)
        guard case .known(let event)? = parsed?.content else { return nil }
        return event.direct?.texts.text.title
    }
}

/// FACES section D3: what apps for iOS look up in their own texts.
@Suite struct MatrixAlertTests {
    private static let text: JSONValue = ["$text": "body"]

    private static let rows: [(String, String, [JSONValue])] = [
        (message("m.image", named), "IMAGE_FROM_USER_IN_ROOM", ["Alice", text, "Lobby"]),
        (message("m.text", named), "MSG_FROM_USER_IN_ROOM_WITH_CONTENT", ["Alice", "Lobby", text]),
        (message("m.notice", named), "MSG_FROM_USER_IN_ROOM_WITH_CONTENT", ["Alice", "Lobby", text]),
        (message("m.emote", named), "ACTION_FROM_USER_IN_ROOM", ["Lobby", "Alice", text]),
        (encrypted(named), "MSG_FROM_USER_IN_ROOM", ["Alice", "Lobby"]),
        (message("m.image", ""), "IMAGE_FROM_USER", ["Alice", text]),
        (message("m.text", ""), "MSG_FROM_USER_WITH_CONTENT", ["Alice", text]),
        (message("m.emote", ""), "ACTION_FROM_USER", ["Alice", text]),
        (encrypted(""), "MSG_FROM_USER", ["Alice"]),
        (encrypted(#","room_alias":"lobby:x""#), "MSG_FROM_USER_IN_ROOM", ["Alice", "lobby:x"]),
        (call(#"{"sdp":"v=0\r\nm=audio 1\r\nm=video 2"}"#), "VIDEO_CALL_FROM_USER", ["Alice"]),
        (call(#"{"sdp":"v=0\r\nm=audio 1"}"#), "VOICE_CALL_FROM_USER", ["Alice"]),
        (call("7"), "VOICE_CALL_FROM_USER", ["Alice"]),
        (member("invite", true, named), "USER_INVITE_TO_NAMED_ROOM", ["Alice", "Lobby"]),
        (member("invite", true, ""), "USER_INVITE_TO_CHAT", ["Alice"]),
        (member("invite", false, named), "MSG_FROM_USER", ["Alice"]),
        (member("join", true, named), "MSG_FROM_USER", ["Alice"]),
        (#""type":"org.example.poll","sender":"@a:x""#, "MSG_FROM_USER", ["@a:x"]),
        (#""type":"org.example.poll""#, "MSG_FROM_USER", [" "]),
        (
            #""type":"m.room.encrypted","sender":"@a:x","room_name":"\#(String(repeating: "r", count: 300))""#,
            "MSG_FROM_USER_IN_ROOM", ["@a:x", .string(String(repeating: "r", count: 253) + "…")]
        ),
    ]

    @Test(arguments: rows)
    func `what an app says`(_ notification: String, _ key: String, _ arguments: [JSONValue]) throws {
        let body = #"{"notification":{"event_id":"$e",\#(notification),"devices":[{"app_id":"a","pushkey":"p"}]}}"#
        let alert = try MatrixNotification(body: Array(body.utf8)).alert
        #expect(alert == MatrixNotification.Alert(key: key, arguments: arguments))
    }

    private static let named = #","room_name":"Lobby","room_alias":"lobby:x""#
    private static let alice = #""sender":"@a:x","sender_display_name":"Alice""#

    private static func message(_ type: String, _ rest: String) -> String {
        #""type":"m.room.message",\#(alice),"content":{"msgtype":"\#(type)","body":"words"}\#(rest)"#
    }

    private static func encrypted(_ rest: String) -> String {
        #""type":"m.room.encrypted",\#(alice),"content":{"algorithm":"m.megolm.v1.aes-sha2"}\#(rest)"#
    }

    private static func call(_ offer: String) -> String {
        #""type":"m.call.invite",\#(alice),"content":{"offer":\#(offer)}\#(named)"#
    }

    private static func member(_ membership: String, _ isTarget: Bool, _ rest: String) -> String {
        #""type":"m.room.member",\#(alice),"membership":"\#(membership)","user_is_target":\#(isTarget)\#(rest)"#
    }
}
