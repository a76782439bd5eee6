import CarillonCore
import Crypto
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

@Suite struct WebPushEncryptionTests {
    /// RFC 8291 section 5 and appendix A.
    private enum RFC8291 {
        static let plaintext = "When I grow up, I want to be a watermelon"
        static let sender = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
        static let receiver = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
        static let p256dh = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
        static let salt = "DGv6ra1nlYgDCS1FRnbzlw"
        static let body =
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"
            + "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    }

    private func decode(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text.utf8)) }

    @Test func `makes the RFC's example byte for byte`() throws {
        let body = try WebPushEncryption.encrypt(
            Array(RFC8291.plaintext.utf8),
            for: try #require(SubscriptionKeys(p256dh: RFC8291.p256dh, auth: RFC8291.auth)),
            from: P256.KeyAgreement.PrivateKey(rawRepresentation: decode(RFC8291.sender)),
            salt: decode(RFC8291.salt)
        )
        #expect(body == (try decode(RFC8291.body)))
        #expect(body.count == 144)
    }

    @Test func `the test's own browser reads the RFC's example`() throws {
        let browser = TestBrowser(
            key: try P256.KeyAgreement.PrivateKey(rawRepresentation: decode(RFC8291.receiver)),
            authSecret: try decode(RFC8291.auth)
        )
        #expect(browser.p256dh == RFC8291.p256dh)
        #expect(try browser.read(decode(RFC8291.body)) == Array(RFC8291.plaintext.utf8))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 255, 256, 3_992, 3_993])
    func `a browser reads what is made for it, and no other one does`(size: Int) throws {
        let plaintext = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let browser = TestBrowser()
        let keys = try #require(SubscriptionKeys(p256dh: browser.p256dh, auth: browser.auth))
        let body = try WebPushEncryption.encrypt(plaintext, for: keys)
        #expect(body.count == size + 103)
        #expect(body.count <= 4_096)
        #expect(try browser.read(body) == plaintext)
        #expect(throws: (any Error).self) { try TestBrowser(authSecret: browser.authSecret).read(body) }
        #expect(throws: (any Error).self) { try TestBrowser(key: browser.key).read(body) }
    }

    @Test func `every message has a key and a salt of its own`() throws {
        let browser = TestBrowser()
        let keys = try #require(SubscriptionKeys(p256dh: browser.p256dh, auth: browser.auth))
        let bodies = try (0..<1_000).map { _ in try WebPushEncryption.encrypt([1, 2, 3], for: keys) }
        #expect(Set(bodies.map { Array($0[..<16]) }).count == 1_000)
        #expect(Set(bodies.map { Array($0[21..<86]) }).count == 1_000)
        for body in bodies { #expect(try browser.read(body) == [1, 2, 3]) }
    }

    /// Points that are none: of the wrong length, padded, compressed, hybrid, beside the curve, zero.
    static let wrongPoints: [String] = [
        "", "!", String(RFC8291.p256dh.dropLast(2)), RFC8291.p256dh + "AA", RFC8291.p256dh + "=",
        "AiVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx", "Bi" + String(RFC8291.p256dh.dropFirst(2)),
        String(RFC8291.p256dh.dropLast()) + "8", String(repeating: "A", count: 87),
        "BA" + String(repeating: "A", count: 85),
    ]

    @Test(arguments: wrongPoints)
    func `refuses a public key that is none`(point: String) {
        #expect(SubscriptionKeys(p256dh: point, auth: RFC8291.auth) == nil)
    }

    /// Too short, too long, with stray bits.
    @Test(arguments: ["", "!", "BTBZMqHH6r4Tts7J_aSI", "BTBZMqHH6r4Tts7J_aSIggAA", "BTBZMqHH6r4Tts7J_aSIgh"])
    func `refuses a secret that is none`(secret: String) {
        #expect(SubscriptionKeys(p256dh: RFC8291.p256dh, auth: secret) == nil)
    }
}
