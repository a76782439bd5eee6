import CarillonWebhooks
import Foundation
import HTTPTypes
import Testing

@Suite struct WebhookTests {
    private let webhook: Webhook
    private let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    private let now = Date(timeIntervalSince1970: 1_614_265_330)
    private let body = Data(#"{"test": 2432232314}"#.utf8)
    private let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    private let other = "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="

    init() throws {
        webhook = Webhook(try #require(SigningSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")))
    }

    /// The vector that the reference implementations of Standard Webhooks test themselves with.
    @Test func `signs as the reference implementations do, and verifies it`() throws {
        let fields = webhook.sign(body, id: id, at: now.addingTimeInterval(0.9))
        #expect(fields == [.webhookID: id, .webhookTimestamp: "1614265330", .webhookSignature: signature])
        #expect(throws: Never.self) { try webhook.verify(body, fields: fields, at: now) }
    }

    @Test func `refuses a body, an id or a time of which one bit is flipped`() {
        for bit in 0..<body.count * 8 {
            var flipped = body
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: WebhookError.mismatch) { try verify(body: flipped) }
        }
        #expect(throws: WebhookError.mismatch) { try verify(body: Data()) }
        #expect(throws: WebhookError.mismatch) { try verify(id: id + "x") }
        #expect(throws: WebhookError.mismatch) { try verify(timestamp: "1614265331") }
    }

    @Test(
        arguments: [(-301, .tooFarAhead), (-300, nil), (0, nil), (300, nil), (301, .tooOld)]
            as [(Double, WebhookError?)]
    )
    func `tolerates five minutes both ways`(seconds: Double, expected: WebhookError?) {
        let later = now.addingTimeInterval(seconds)
        if let expected {
            #expect(throws: expected) { try verify(at: later) }
        } else {
            #expect(throws: Never.self) { try verify(at: later) }
        }
    }

    @Test(arguments: ["", " ", "1614265330.0", "+1614265330", "0x10", "１６１４２６５３３０", "1614265330000"])
    func `refuses a time that is not whole seconds`(timestamp: String) {
        #expect(throws: WebhookError.malformedTimestamp) { try verify(timestamp: timestamp) }
    }

    @Test func `says which field is missing`() {
        #expect(throws: WebhookError.missingID) { try webhook.verify(body, fields: [:], at: now) }
        #expect(throws: WebhookError.malformedTimestamp) {
            try webhook.verify(body, fields: [.webhookID: id], at: now)
        }
        #expect(throws: WebhookError.noSignature) {
            try webhook.verify(body, fields: [.webhookID: id, .webhookTimestamp: "1614265330"], at: now)
        }
    }

    @Test(arguments: [
        "", "v1", "v1,====", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OF=",
    ])
    func `takes no other version and no other spelling`(signatures: String) {
        #expect(throws: WebhookError.noSignature) { try verify(signature: signatures) }
    }

    @Test func `finds the right one among several, within the first sixteen`() {
        #expect(throws: Never.self) { try verify(signature: "v1a,x \(other)  \(signature)") }
        #expect(throws: WebhookError.mismatch) { try verify(signature: "v1,AAAA \(other)") }
        let many = Array(repeating: other, count: 16) + [signature]
        #expect(throws: Never.self) { try verify(signature: many.dropFirst().joined(separator: " ")) }
        #expect(throws: WebhookError.mismatch) { try verify(signature: many.joined(separator: " ")) }
    }

    @Test func `during a rotation both secrets sign, and either verifies`() throws {
        let old = try #require(SigningSecret("whsec_" + Data(repeating: 1, count: 32).base64EncodedString()))
        let new = try #require(SigningSecret("whsec_" + Data(repeating: 2, count: 32).base64EncodedString()))
        let fields = Webhook([new, old]).sign(body, id: id, at: now)
        for secrets in [[old], [new], [new, old]] {
            #expect(throws: Never.self) { try Webhook(secrets).verify(body, fields: fields, at: now) }
        }
        #expect(throws: WebhookError.mismatch) { try webhook.verify(body, fields: fields, at: now) }
        #expect(throws: WebhookError.mismatch) { try Webhook([]).verify(body, fields: fields, at: now) }
    }

    @Test(arguments: [
        "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw ",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-", "whsec_AAAA",
    ])
    func `reads no other secrets`(text: String) {
        #expect(SigningSecret(text) == nil)
    }

    @Test func `a secret never shows itself`() throws {
        let secret = try #require(SigningSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        var dumped = ""
        dump([secret], to: &dumped)
        dump(Webhook(secret), to: &dumped)
        for shown in ["\(secret)", String(reflecting: secret), "\([secret])", dumped] {
            #expect(!shown.contains("MfKQ") && shown.contains("<redacted>"))
        }
    }

    private func verify(
        id: String? = nil,
        timestamp: String? = nil,
        signature: String? = nil,
        body: Data? = nil,
        at moment: Date? = nil
    ) throws(WebhookError) {
        try webhook.verify(
            body ?? self.body,
            id: id ?? self.id,
            timestamp: timestamp ?? "1614265330",
            signature: signature ?? self.signature,
            at: moment ?? now
        )
    }
}
