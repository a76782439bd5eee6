import CarillonCore
import Testing

@testable import CarillonProviders

@Suite struct APNsMessageTests {
    private static let device = DeviceAddress.apns(token: "00ff", appID: "com.acme.chat", environment: .production)

    @Test func `has the payload of the contract`() {
        let message = APNsMessage(.example(to: [Self.device]))
        let expected =
            #"{"aps":{"alert":{"title":"Bob","body":"Bob has joined General"},"sound":"default","thread-id":"general"},"#
            + #""eventId":"01020304-0506-7008-800a-0b0c0d0e0f10","eventType":"member.joined","networkId":"acme","#
            + #""channelId":"general"}"#
        #expect(String(decoding: message.payload, as: UTF8.self) == expected)
        // 24 hours after acceptance.
        #expect(message.expiration == "1763719200")
    }

    @Test func `names a message and its sender beside the channel`() throws {
        let message = APNsMessage(.example(to: [Self.device]).telling(of: "m-1", from: "bob"))
        let text = String(decoding: message.payload, as: UTF8.self)
        #expect(text.hasSuffix(#""channelId":"general","messageId":"m-1","senderId":"bob"}"#))
    }

    @Test func `cuts the text and never an id`() throws {
        let group = DeliveryGroup.example(to: [Self.device], body: String(repeating: "x", count: 9_000))
        let message = APNsMessage(group.withLongestIDs)
        #expect(message.fits && message.payload.count <= 4_096)
        guard case .object(let object) = try JSONValue(parsing: message.payload) else {
            Issue.record("not the payload")
            return
        }
        let name = JSONValue.string(String(repeating: "\"", count: 256))
        for key in ["networkId", "channelId", "messageId", "senderId"] { #expect(object[key] == name, "\(key)") }
    }

    @Test(arguments: ["a", "é", "\u{301}", "👨‍👩‍👧‍👦", "\"", "\n", "🇹🇭", "\\"])
    func `is cut to 4,096 bytes between characters`(character: String) throws {
        for count in [3_600, 4_000, 20_000] {
            let body = String(repeating: character, count: count / character.utf8.count)
            let message = APNsMessage(.example(to: [Self.device], body: body))
            #expect(message.payload.count <= 4_096)
            guard case .object(let object) = try JSONValue(parsing: message.payload),
                case .object(let aps) = object["aps"], case .object(let alert) = aps["alert"],
                case .string(let text) = alert["body"]
            else {
                Issue.record("not the payload")
                return
            }
            let kept = text.hasSuffix("…") ? String(text.dropLast()) : text
            #expect(body.utf8.starts(with: kept.utf8))
            #expect(message.payload.count > 4_000 || text == body)
        }
    }
}
