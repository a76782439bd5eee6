import CarillonCore
import CarillonTesting
import Testing

@testable import CarillonProviders

@Suite struct VAPIDTests {
    private let time = ManualTime(.example)

    @Test func `says to whom, until when and who answers for it, signed with the key that it names`() throws {
        let credential = try WebPushCredential.example()
        let vapid = VAPID(clock: time.clock)
        let header = try #require(VAPIDHeader(vapid.authorization(for: "https://push.example", by: credential)))
        #expect(Base64URL.encode(header.publicKey) == credential.publicKey)
        #expect(
            JSONValue.object(header.claims) == [
                "aud": "https://push.example", "exp": .number(JSONNumber(1_763_632_800 + 18 * 3_600)),
                "sub": "mailto:ops@acme.example",
            ]
        )
    }

    @Test func `one token serves twelve hours, and never comes near its end or the limit of 24 hours`() throws {
        let credential = try WebPushCredential.example()
        let vapid = VAPID(clock: time.clock)
        let first = try vapid.authorization(for: "https://push.example", by: credential)
        time.advance(by: .seconds(12 * 3_600) - .milliseconds(1))
        #expect(try vapid.authorization(for: "https://push.example", by: credential) == first)
        time.advance(by: .milliseconds(1))
        let second = try vapid.authorization(for: "https://push.example", by: credential)
        #expect(second != first)
        #expect(VAPID.lifetime > VAPID.reuse)
        #expect(VAPID.lifetime < .seconds(24 * 3_600))
        time.advance(by: .seconds(-3_600))
        #expect(
            try vapid.authorization(for: "https://push.example", by: credential) != second,
            "the clock was set back"
        )
    }

    @Test func `each origin, key and subject has a token of its own`() throws {
        let credential = try WebPushCredential.example()
        let renamed = try WebPushCredential(reading: ["subject": "https://acme.example/"], keepingKeyOf: credential)
        let vapid = VAPID(clock: time.clock)
        let headers = [
            try vapid.authorization(for: "https://push.example", by: credential),
            try vapid.authorization(for: "https://push.example:8443", by: credential),
            try vapid.authorization(for: "https://push.example", by: renamed),
            try vapid.authorization(for: "https://push.example", by: .example()),
        ]
        #expect(Set(headers).count == 4)
        #expect(headers.allSatisfy { VAPIDHeader($0) != nil })
    }

    @Test func `a token that was refused is not used again`() throws {
        let credential = try WebPushCredential.example()
        let vapid = VAPID(clock: time.clock)
        let first = try vapid.authorization(for: "https://push.example", by: credential)
        vapid.forget("https://push.example", by: credential)
        #expect(try vapid.authorization(for: "https://push.example", by: credential) != first)
    }

    @Test func `stays bounded, however many origins there are`() throws {
        let credential = try WebPushCredential.example()
        let vapid = VAPID(clock: time.clock)
        let first = try vapid.authorization(for: "https://first.example", by: credential)
        for number in 1..<10_000 { _ = try vapid.authorization(for: "https://h\(number).example", by: credential) }
        #expect(try vapid.authorization(for: "https://first.example", by: credential) == first)
        _ = try vapid.authorization(for: "https://last.example", by: credential)
        #expect(try vapid.authorization(for: "https://first.example", by: credential) != first)
    }
}
