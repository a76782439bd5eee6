import CarillonCore
import Testing

@testable import CarillonFaces

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
