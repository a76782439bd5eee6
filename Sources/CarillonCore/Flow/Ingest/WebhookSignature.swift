package import CarillonWebhooks
import Foundation

/// Signs and verifies webhooks by Standard Webhooks 1.0.0 with symmetric keys (HMAC-SHA256, version `v1`).
///
/// What is signed is `id.timestamp.body`, with both headers as they were sent and the body's raw bytes.
package enum WebhookSignature {
    /// How old or how far ahead a timestamp may be.
    package static let tolerance = Duration.seconds(300)
    /// Secrets beyond these do not sign, so that no number of rotations makes a header that receivers refuse.
    package static let maximumSignedSecretCount = Webhook.maximumSigningSecretCount
    /// Secrets beyond these are not looked at, and not kept: the current one and five that are on their way out.
    package static let maximumSecretCount = 6

    /// Checks that a holder of one of the secrets signed this body, and did so recently.
    ///
    /// Each secret costs one HMAC over the body, however many signatures there are; the comparisons take the same time
    /// whether and wherever they differ. Accepts an `id` with full stops: the signed text is then ambiguous, but its
    /// other readings have a body that is no JSON object or array.
    /// - Parameters:
    ///   - id: The `webhook-id` header.
    ///   - timestamp: The `webhook-timestamp` header: whole seconds since 1970.
    ///   - signatures: The `webhook-signature` header: signatures with spaces between them, of which only those of
    ///     version `v1` count.
    ///   - body: The body as it arrived.
    ///   - secrets: The secrets that are valid now, the newest first.
    ///   - now: The current time.
    ///   - tolerance: How far from now the timestamp may be, both ways.
    /// - Throws: `WebhookError`.
    package static func verify(
        id: String,
        timestamp: String,
        signatures: String,
        body: [UInt8],
        secrets: [WebhookSecret],
        now: Timestamp,
        tolerance: Duration = tolerance
    ) throws(WebhookError) {
        try Webhook(secrets.prefix(maximumSecretCount).map(\.signing), tolerance: tolerance).verify(
            body,
            id: id,
            timestamp: timestamp,
            signature: signatures,
            at: Date(timeIntervalSince1970: Double(now.milliseconds) / 1000)
        )
    }

    /// Signs a body that is about to be sent.
    /// - Parameters:
    ///   - id: The `webhook-id` header; a retry has the same.
    ///   - timestamp: The `webhook-timestamp` header: when this attempt is made, in whole seconds since 1970.
    ///   - body: The body exactly as it is sent.
    ///   - secrets: The secrets of the receiver: more than one while it rotates them.
    /// - Returns: The value of the `webhook-signature` header: one signature for each of the first
    ///   ``maximumSignedSecretCount`` secrets.
    package static func sign(id: String, timestamp: Int64, body: [UInt8], secrets: [WebhookSecret]) -> String {
        Webhook(secrets.map(\.signing)).signature(of: body, id: id, timestamp: timestamp)
    }
}
