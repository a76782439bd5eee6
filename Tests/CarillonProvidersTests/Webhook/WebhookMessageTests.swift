import CarillonCore
import Foundation
import Testing

@testable import CarillonProviders

@Suite struct WebhookMessageTests {
    private func message(_ group: DeliveryGroup) -> WebhookMessage { WebhookMessage(group, to: group.targets[0]) }

    @Test func `has the members of the contract in their order`() {
        let message = message(.example(to: [.webhook(url: "https://example.com/")]))
        #expect(message.id == "\(NotificationID(event: .example, device: DeviceID(trusted: "d-0")))")
        #expect(
            String(decoding: message.body, as: UTF8.self)
                == #"{"type":"notification.created","timestamp":"2025-11-20T10:00:00.000Z","data":{"#
                + #""notificationId":"\#(message.id)","eventId":"01020304-0506-7008-800a-0b0c0d0e0f10","#
                + #""eventType":"member.joined","deviceId":"d-0","userId":"u-0","networkId":"acme","#
                + #""channel":{"id":"general","displayName":"General"},"title":"Bob","#
                + #""body":"Bob has joined General","locale":"en"}}"#
        )
    }

    @Test func `names a message and its sender beside the channel`() {
        let group = DeliveryGroup.example(to: [.webhook(url: "https://example.com/")]).telling(of: "m-1", from: "bob")
        let text = String(decoding: message(group).body, as: UTF8.self)
        #expect(text.contains(#""displayName":"General"},"message":{"id":"m-1"},"sender":{"id":"bob"},"title""#))
    }

    @Test func `leaves out a channel name that is not known`() {
        let message = message(.example(to: [.webhook(url: "https://example.com/")], channelName: nil))
        #expect(String(decoding: message.body, as: UTF8.self).contains(#""channel":{"id":"general"},"#))
    }

    @Test func `differs from device to device, not from attempt to attempt`() {
        var group = DeliveryGroup.example(to: [
            .webhook(url: "https://example.com/"), .webhook(url: "https://example.com/"),
        ])
        let first = WebhookMessage(group, to: group.targets[0])
        #expect(WebhookMessage(group, to: group.targets[1]).id != first.id)
        group.attempt += 1
        group.leaseToken += 1
        group.targets.removeLast()
        #expect(WebhookMessage(group, to: group.targets[0]).body == first.body)
    }

    struct Text: Sendable {
        var title: String
        var body: String
    }

    @Test(arguments: [
        Text(title: "Bob", body: String(repeating: "word ", count: 5_000)),
        Text(title: "Bob", body: String(repeating: "👩‍👩‍👧‍👦", count: 500)),
        Text(title: "Bob", body: String(repeating: "e\u{301}\u{302}", count: 2_000)),
        Text(title: "Bob", body: String(repeating: "\"\\\n", count: 2_000)),
        Text(title: String(repeating: "title ", count: 2_000), body: "short"),
        Text(title: String(repeating: "\u{1}", count: 9_000), body: String(repeating: "ก็", count: 9_000)),
    ])
    func `cuts the text between characters so that the body fits 4096 bytes`(text: Text) throws {
        let message = message(.example(to: [.webhook(url: "https://example.com/")], title: text.title, body: text.body))
        #expect(message.body.count <= 4_096)
        #expect(message.body.count > 2_000)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any])
        let data = try #require(json["data"] as? [String: Any])
        for (name, whole) in [("title", text.title), ("body", text.body)] {
            let shown = try #require(data[name] as? String)
            #expect(shown == whole || shown.last == "…")
            #expect(shown == whole || whole.hasPrefix(String(shown.dropLast())))
        }
        #expect(text.title.utf8.count > 10 || data["title"] as? String == text.title)
    }

    @Test(arguments: 4_090...4_100)
    func `cuts nothing that fits`(size: Int) {
        let frame = message(.example(to: [.webhook(url: "https://example.com/")], body: "")).body.count
        let text = String(repeating: "x", count: size - frame)
        let body = message(.example(to: [.webhook(url: "https://example.com/")], body: text)).body
        #expect(body.count == min(size, 4_096))
        #expect(String(decoding: body, as: UTF8.self).contains("…") == (size > 4_096))
    }
}
