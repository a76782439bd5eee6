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
        #expect(notification.details.map(\.key) == ["type", "sender"])
        #expect(try Self.title(of: notification) == "@a:x")
        let subject = MatrixTranslation(notification: notification, now: Self.zero).subject
        #expect(subject == .messageSent(user: "@a:x", channel: nil, kind: .text, text: "hi"))
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
