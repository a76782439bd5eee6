import CarillonCore
import CarillonWebhooks
import Foundation
import Testing

@Suite struct StandardWebhooksTests {
    @Test(arguments: StandardWebhooksVector.all)
    func `signs as the reference library does`(vector: StandardWebhooksVector) throws {
        let secret = try #require(WebhookSecret(vector.secret))
        let signature = WebhookSignature.sign(
            id: vector.id,
            timestamp: vector.timestamp,
            body: Array(vector.body.utf8),
            secrets: [secret]
        )
        #expect(signature == vector.signature)
    }

    @Test(arguments: StandardWebhooksVector.all)
    func `accepts what the reference library signed, and no other text`(vector: StandardWebhooksVector) throws {
        let secret = try #require(WebhookSecret(vector.secret))
        func verify(_ body: String) throws {
            try Webhook(secret.signing).verify(
                Array(body.utf8),
                id: vector.id,
                timestamp: "\(vector.timestamp)",
                signature: vector.signature,
                at: Date(timeIntervalSince1970: Double(vector.timestamp))
            )
        }
        try verify(vector.body)
        #expect(throws: WebhookError.self) { try verify(vector.body + " ") }
    }
}
