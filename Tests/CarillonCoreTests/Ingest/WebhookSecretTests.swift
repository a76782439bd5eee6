import CarillonCore
import Testing

@Suite struct WebhookSecretTests {
    @Test(arguments: [24, 25, 26, 32, 63, 64])
    func `reads its text form and writes the same`(count: Int) throws {
        let text = Self.text(byteCount: count)
        let secret = try #require(WebhookSecret(text))
        #expect(secret.text.reveal { $0 } == text)
        #expect(try #require(WebhookSecret(text)) == secret)
    }

    @Test(arguments: [
        "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw ", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-",
        "whsec_ MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", text(byteCount: 23), text(byteCount: 65), text(byteCount: 0),
    ])
    func `refuses everything else`(text: String) {
        #expect(WebhookSecret(text) == nil)
    }

    @Test func `makes a new one each time`() {
        let secrets = (0..<100).map { _ in WebhookSecret.generate() }
        #expect(Set(secrets.map(\.text)).count == 100)
        #expect(secrets.allSatisfy { secret in secret.text.reveal { WebhookSecret($0) } == secret })
    }

    @Test func `never shows itself`() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        var dumped = ""
        dump([secret], to: &dumped)
        for shown in ["\(secret)", String(reflecting: secret), "\([secret])", dumped, "\(secret.text)"] {
            #expect(!shown.contains("MfKQ"))
            #expect(shown.contains("<redacted>"))
        }
    }

    /// The base64 of so many bytes of zero, with the prefix.
    private static func text(byteCount: Int) -> String {
        let padding = ["", "==", "="][byteCount % 3]
        return "whsec_" + String(repeating: "A", count: (byteCount * 8 + 5) / 6) + padding
    }
}
