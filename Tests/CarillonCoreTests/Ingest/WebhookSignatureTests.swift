import CarillonCore
import CarillonWebhooks
import Foundation
import Testing

@Suite struct WebhookSignatureTests {
    let secret: WebhookSecret
    let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    let timestamp: Int64 = 1_614_265_330
    let body = Array(#"{"test": 2432232314}"#.utf8)
    let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    init() throws { secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")) }

    /// The vector that the reference implementations of Standard Webhooks test themselves with.
    @Test func `signs as the reference implementations do`() throws {
        #expect(WebhookSignature.sign(id: id, timestamp: timestamp, body: body, secrets: [secret]) == signature)
        #expect(throws: Never.self) { try verify() }
    }

    @Test func `refuses the body when any one bit of it is flipped`() {
        for bit in 0..<body.count * 8 {
            var flipped = body
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: WebhookError.mismatch) { try verify(body: flipped) }
        }
        #expect(throws: WebhookError.mismatch) { try verify(body: []) }
        #expect(throws: WebhookError.mismatch) { try verify(body: body.dropLast()) }
        #expect(throws: WebhookError.mismatch) { try verify(body: body + [0]) }
    }

    @Test func `refuses the id when any one bit of it is flipped`() {
        for flipped in bitFlips(of: id) {
            #expect(throws: WebhookError.mismatch) { try verify(id: flipped) }
        }
        #expect(throws: WebhookError.missingID) { try verify(id: "") }
    }

    @Test func `refuses the timestamp when any one bit of it is flipped, however tolerant`() {
        for flipped in bitFlips(of: String(timestamp)) {
            #expect(throws: WebhookError.self) { try verify(timestamp: flipped, tolerance: .seconds(10_000_000_000)) }
        }
    }

    @Test func `refuses the signature when any one bit of it is flipped`() {
        for flipped in bitFlips(of: signature) {
            #expect(throws: WebhookError.self) { try verify(signatures: flipped) }
        }
    }

    @Test func `refuses text moved from one part of what is signed to another`() {
        #expect(throws: WebhookError.self) { try verify(id: id + ".1614265330", timestamp: "") }
        let moved = Array(#"1614265330.{"test": 2432232314}"#.utf8)
        #expect(throws: WebhookError.self) { try verify(timestamp: "", body: moved) }
    }

    @Test(arguments: [
        "", " ", "1614265330.0", "1614265330 ", "+1614265330", "-1614265330", "0x10", "now", "１６１４２６５３３０",
        "1614265330000",
    ])
    func `refuses a timestamp that is not whole seconds`(timestamp: String) {
        #expect(throws: WebhookError.malformedTimestamp) { try verify(timestamp: timestamp) }
    }

    @Test(
        arguments: [
            (-300_001, .tooFarAhead), (-300_000, nil), (0, nil), (300_000, nil), (300_001, .tooOld),
        ] as [(Int64, WebhookError?)]
    )
    func `tolerates five minutes both ways`(milliseconds: Int64, expected: WebhookError?) {
        let now = Timestamp(milliseconds: timestamp * 1000 + milliseconds)
        if let expected {
            #expect(throws: expected) { try verify(now: now) }
        } else {
            #expect(throws: Never.self) { try verify(now: now) }
        }
    }

    @Test(arguments: [
        "", " ", "v1", "v1,====", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "V1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE",
        "v1,g0hM9SsE-OTPJTGt_tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OF=",
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=,", "v1,\ng0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ])
    func `takes no other version and no other spelling`(signatures: String) {
        #expect(throws: WebhookError.noSignature) { try verify(signatures: signatures) }
    }

    @Test(arguments: ["v1,", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1A==", "v1,AAAA", "v1,g0hM"])
    func `refuses a part of a signature`(signatures: String) {
        #expect(throws: WebhookError.mismatch) { try verify(signatures: signatures) }
    }

    @Test func `finds the right one among several signatures, within the first sixteen`() {
        let other = "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
        #expect(throws: Never.self) { try verify(signatures: "v1a,x \(other)  \(signature)") }
        #expect(throws: WebhookError.mismatch) { try verify(signatures: "\(other) v1,x") }
        let fifteen = Array(repeating: other, count: 15)
        #expect(throws: Never.self) { try verify(signatures: (fifteen + [signature]).joined(separator: " ")) }
        #expect(throws: WebhookError.mismatch) {
            try verify(signatures: (fifteen + [other, signature]).joined(separator: " "))
        }
    }

    @Test func `signs with every secret of a rotation, and each verifies`() {
        let secrets = [secret, WebhookSecret.generate()]
        let signatures = WebhookSignature.sign(id: id, timestamp: timestamp, body: body, secrets: secrets)
        #expect(signatures.hasPrefix(signature + " v1,"))
        for secret in secrets {
            #expect(throws: Never.self) { try verify(signatures: signatures, secrets: [secret]) }
        }
    }

    @Test func `signs with the first five secrets, however many there are`() {
        let secrets = (0..<40).map { _ in WebhookSecret.generate() }
        let signatures = WebhookSignature.sign(id: id, timestamp: timestamp, body: body, secrets: secrets)
        #expect(signatures.split(separator: " ").count == 5)
        #expect(signatures.utf8.count == 5 * "v1,".utf8.count + 5 * 44 + 4)
        for (index, secret) in secrets.enumerated() {
            let isMismatch: Bool
            do throws(WebhookError) {
                try verify(signatures: signatures, secrets: [secret])
                isMismatch = false
            } catch {
                isMismatch = true
            }
            #expect(isMismatch == (index >= 5))
        }
    }

    private func verify(
        id: String? = nil,
        timestamp: String? = nil,
        signatures: String? = nil,
        body: [UInt8]? = nil,
        secrets: [WebhookSecret]? = nil,
        now: Timestamp? = nil,
        tolerance: Duration = .seconds(300)
    ) throws(WebhookError) {
        let now = now ?? Timestamp(milliseconds: self.timestamp * 1000)
        try Webhook((secrets ?? [secret]).map(\.signing), tolerance: tolerance).verify(
            body ?? self.body,
            id: id ?? self.id,
            timestamp: timestamp ?? String(self.timestamp),
            signature: signatures ?? signature,
            at: Date(timeIntervalSince1970: Double(now.milliseconds) / 1000)
        )
    }

    /// The text with each of its bits flipped, as far as the result is text.
    private func bitFlips(of text: String) -> [String] {
        let bytes = Array(text.utf8)
        return (0..<bytes.count * 8).compactMap { bit in
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            return String(validating: flipped, as: UTF8.self)
        }
    }
}

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
