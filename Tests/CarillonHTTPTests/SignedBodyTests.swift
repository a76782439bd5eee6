import CarillonCore
import CarillonWebhooks
import HTTPTypes
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

    @Test(arguments: ["webhook-id", "webhook-timestamp", "webhook-signature"])
    func `what is given twice proves nothing, whichever is right`(name: String) throws {
        let name = try #require(HTTPField.Name(name))
        let headers = Webhook([secret.signing]).sign(body, id: "w")
        let once = try #require(SignedBody(headers))
        try once.verify(body, secrets: [secret], now: .now)
        for other in ["x", headers[name] ?? ""] {
            for isBehind in [true, false] {
                var twice = headers
                twice[values: name].insert(other, at: isBehind ? 1 : 0)
                let signed = try #require(SignedBody(twice))
                #expect(throws: Problem.unauthorized("\(name) is given more than once")) {
                    try signed.verify(body, secrets: [secret], now: .now)
                }
            }
        }
    }

    private func verify(_ secrets: [WebhookSecret], after age: Int64 = 0) throws(Problem) {
        let second: Int64 = 1_614_265_330
        let signatures = WebhookSignature.sign(id: "w", timestamp: second, body: body, secrets: [secret])
        let signed = SignedBody(id: "w", timestamp: String(second), signatures: signatures)
        try signed.verify(body, secrets: secrets, now: Timestamp(milliseconds: second * 1000 + age))
    }
}

extension Timestamp {
    fileprivate static var now: Timestamp { WallClock.system.now() }
}
