import CarillonWebhooks

/// Signs webhooks by Standard Webhooks 1.0.0 with symmetric keys (HMAC-SHA256, version `v1`).
///
/// What is signed is `id.timestamp.body`, with both headers as they were sent and the body's raw bytes.
package enum WebhookSignature {
    /// Secrets beyond these do not sign, so that no number of rotations makes a header that receivers refuse.
    package static let maximumSignedSecretCount = Webhook.maximumSigningSecretCount
    /// Secrets beyond these are not looked at, and not kept: the current one and five that are on their way out.
    package static let maximumSecretCount = 6

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
