import CarillonCore
import Foundation
import Testing

@testable import CarillonProviders

@Suite struct FCMMessageTests {
    private let id = NotificationID(event: .example, device: DeviceID(trusted: "d-0"))

    private func body(_ group: DeliveryGroup, timeToLive: Int = 86_400) throws -> [UInt8] {
        guard case .fcm(let token, _) = group.targets[0].address else { throw OutboundError.malformedAnswer }
        return FCMMessage(group).body(to: token, id: id, timeToLive: timeToLive)
    }

    private func group(
        token: String = "token-1",
        others: [String] = [],
        title: String = "Bob",
        body: String = "Bob has joined General"
    ) -> DeliveryGroup {
        .example(to: ([token] + others).map { .fcm(token: $0, appID: "com.acme.chat") }, title: title, body: body)
    }

    @Test func `is what the contract says, all data as strings`() throws {
        let expected: JSONValue = [
            "message": [
                "token": "token-1",
                "notification": ["title": "Bob", "body": "Bob has joined General"],
                "data": [
                    "eventId": "01020304-0506-7008-800a-0b0c0d0e0f10", "eventType": "member.joined",
                    "networkId": "acme", "channelId": "general", "notificationId": .string(id.description),
                ],
                "android": [
                    "priority": "HIGH", "ttl": "86400s", "notification": ["tag": .string(id.description)],
                ],
            ]
        ]
        #expect(try body(group()) == expected.serialized)
    }

    @Test(arguments: [(-5, "0s"), (0, "0s"), (7, "7s"), (9_999_999, "2419200s")])
    func `keeps the time to live within what FCM takes`(seconds: Int, expected: String) throws {
        let text = String(decoding: try body(group(), timeToLive: seconds), as: UTF8.self)
        #expect(text.contains(#""ttl":"\#(expected)""#))
    }

    @Test func `says in quotes whatever the token holds`() throws {
        let token = #"a"b\c"#
        let document = try JSONValue(parsing: body(group(token: token)))
        guard case .object(let root) = document, case .object(let message)? = root["message"] else {
            Issue.record("no message")
            return
        }
        #expect(message["token"] == .string(token))
    }

    @Test(arguments: [
        ("Bob", String(repeating: "word ", count: 5_000)), ("Bob", String(repeating: "👩‍👩‍👧‍👦", count: 500)),
        ("Bob", String(repeating: "e\u{301}\u{302}", count: 2_000)), ("Bob", String(repeating: "\"\\\n", count: 2_000)),
        (String(repeating: "title ", count: 2_000), "short"),
        (String(repeating: "\u{1}", count: 9_000), String(repeating: "ก็", count: 9_000)),
    ])
    func `cuts the text between characters so that the body fits 4096 bytes`(title: String, text: String) throws {
        let bytes = try body(group(title: title, body: text), timeToLive: 2_419_200)
        #expect(bytes.count <= 4_096)
        #expect(bytes.count > 2_000)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        let message = try #require(json["message"] as? [String: Any])
        let shown = try #require(message["notification"] as? [String: String])
        for (name, whole) in [("title", title), ("body", text)] {
            let part = try #require(shown[name])
            #expect(part == whole || (part.last == "…" && whole.hasPrefix(String(part.dropLast()))))
        }
    }

    @Test(arguments: 4_094...4_098)
    func `cuts nothing that fits`(size: Int) throws {
        let frame = try body(group(body: ""), timeToLive: 2_419_200).count
        let bytes = try body(group(body: String(repeating: "x", count: size - frame)), timeToLive: 2_419_200)
        #expect(bytes.count == min(size, 4_096))
        #expect(String(decoding: bytes, as: UTF8.self).contains("…") == (size > 4_096))
    }

    @Test func `makes room for the longest token of the group, but not for absurd ones`() throws {
        let long = String(repeating: "x", count: 9_000)
        let group = group(
            others: [String(repeating: "t", count: 300), String(repeating: "u", count: 4_096)],
            body: long
        )
        #expect(try body(group).count > 3_000)
        #expect(FCMMessage(group).body(to: String(repeating: "t", count: 300), id: id, timeToLive: 1).count <= 4_096)
    }

    @Test func `fits even beside names of the greatest length that need escaping`() throws {
        let group = group(body: String(repeating: "x", count: 9_000)).withLongestIDs
        let bytes = try body(group)
        #expect(bytes.count <= 4_096)
        let text = String(decoding: bytes, as: UTF8.self)
        let name = JSONValue.string(String(repeating: "\"", count: 256)).serializedText
        for key in ["networkId", "channelId", "messageId", "senderId"] {
            #expect(text.contains(#""\#(key)":\#(name)"#), "\(key)")
        }
    }

    @Test func `names a message and its sender beside the channel`() throws {
        let text = String(decoding: try body(group().telling(of: "m-1", from: "bob")), as: UTF8.self)
        #expect(text.contains(#""channelId":"general","messageId":"m-1","senderId":"bob","notificationId""#))
    }
}
