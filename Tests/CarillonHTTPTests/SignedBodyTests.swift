import CarillonCore
import CarillonWebhooks
import Testing

@testable import CarillonEdge

@Suite struct SignedBodyTests {
    private let body = Array("{}".utf8)
    private let secret = WebhookSecret.generate()

    @Test func `accepts what any of the first six secrets signed`() {
        let others = (0..<6).map { _ in WebhookSecret.generate() }
        let mismatch = Problem.unauthorized(WebhookError.mismatch.description)
        #expect(throws: Never.self) { try verify(others.prefix(5) + [secret]) }
        #expect(throws: mismatch) { try verify(others + [secret]) }
        #expect(throws: mismatch) { try verify([]) }
    }

    @Test(arguments: [(-300_001, false), (-300_000, true), (300_000, true), (300_001, false)] as [(Int64, Bool)])
    func `tolerates five minutes both ways`(age: Int64, isAccepted: Bool) {
        let isAcceptedNow = (try? verify([secret], after: age)) != nil
        #expect(isAcceptedNow == isAccepted)
    }

    private func verify(_ secrets: [WebhookSecret], after age: Int64 = 0) throws(Problem) {
        let second: Int64 = 1_614_265_330
        let signatures = WebhookSignature.sign(id: "w", timestamp: second, body: body, secrets: [secret])
        let signed = SignedBody(id: "w", timestamp: String(second), signatures: signatures)
        try signed.verify(body, secrets: secrets, now: Timestamp(milliseconds: second * 1000 + age))
    }
}
