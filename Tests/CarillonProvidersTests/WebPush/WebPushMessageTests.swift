import CarillonCore
import Foundation
import Testing

@testable import CarillonProviders

@Suite struct WebPushMessageTests {
    private let id = NotificationID(event: .example, device: DeviceID(trusted: "d-0"))

    private func group(title: String = "Bob", body: String = "Bob has joined General") -> DeliveryGroup {
        .example(to: [TestBrowser().address], title: title, body: body)
    }

    @Test func `is what the contract says`() {
        let expected: JSONValue = [
            "title": "Bob", "body": "Bob has joined General", "tag": .string(id.description),
            "data": [
                "eventId": "01020304-0506-7008-800a-0b0c0d0e0f10", "eventType": "member.joined", "networkId": "acme",
                "channelId": "general", "notificationId": .string(id.description),
            ],
        ]
        #expect(WebPushMessage(group()).plaintext(for: id) == expected.serialized)
    }

    @Test func `names a message and its sender beside the channel`() {
        let message = WebPushMessage(group().telling(of: "m-1", from: "bob"))
        let text = String(decoding: message.plaintext(for: id), as: UTF8.self)
        #expect(text.contains(#""channelId":"general","messageId":"m-1","senderId":"bob","notificationId""#))
    }

    @Test(arguments: [WebPushMessage.maximumBytes, WebPushMessage.reducedBytes])
    func `cuts the text and never an id`(limit: Int) {
        let group = group(body: String(repeating: "x", count: 9_000)).withLongestIDs
        let message = WebPushMessage(group, maximumBytes: limit)
        let bytes = message.plaintext(for: id)
        #expect(message.fits && bytes.count <= limit)
        let name = JSONValue.string(String(repeating: "\"", count: 256)).serializedText
        let text = String(decoding: bytes, as: UTF8.self)
        for key in ["networkId", "channelId", "messageId", "senderId"] {
            #expect(text.contains(#""\#(key)":\#(name)"#), "\(key)")
        }
    }

    @Test func `has a topic that push services take and that belongs to this notification alone`() {
        let topic = WebPushMessage.topic(for: id)
        #expect(topic.utf8.count == 32)
        #expect(topic.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(topic == WebPushMessage.topic(for: id))
        #expect(topic != WebPushMessage.topic(for: NotificationID(event: .example, device: DeviceID(trusted: "d-1"))))
    }

    @Test(arguments: [
        ("Bob", String(repeating: "word ", count: 5_000)), ("Bob", String(repeating: "👩‍👩‍👧‍👦", count: 500)),
        ("Bob", String(repeating: "e\u{301}\u{302}", count: 2_000)), ("Bob", String(repeating: "\"\\\n", count: 2_000)),
        (String(repeating: "title ", count: 2_000), "short"),
        (String(repeating: "\u{1}", count: 9_000), String(repeating: "ก็", count: 9_000)),
    ])
    func `cuts the text between characters so that the encrypted body fits`(title: String, text: String) throws {
        for (limit, encrypted) in [(WebPushMessage.maximumBytes, 4_096), (WebPushMessage.reducedBytes, 2_744)] {
            let bytes = WebPushMessage(group(title: title, body: text), maximumBytes: limit).plaintext(for: id)
            #expect(bytes.count + 103 <= encrypted)
            #expect(bytes.count > encrypted / 2)
            let json = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
            for (name, whole) in [("title", title), ("body", text)] {
                let part = try #require(json[name] as? String)
                #expect(part == whole || (part.last == "…" && whole.hasPrefix(String(part.dropLast()))))
            }
        }
    }

    @Test(arguments: 3_991...3_995)
    func `cuts nothing that fits`(size: Int) {
        let frame = WebPushMessage(group(body: "")).plaintext(for: id).count
        let bytes = WebPushMessage(group(body: String(repeating: "x", count: size - frame))).plaintext(for: id)
        #expect(bytes.count == min(size, 3_993))
        #expect(String(decoding: bytes, as: UTF8.self).contains("…") == (size > 3_993))
    }
}
