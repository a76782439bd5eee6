public import HTTPTypes

extension HTTPField.Name {
    /// `webhook-id`: the message's id, the same when it is sent again.
    public static let webhookID = known("webhook-id")
    /// `webhook-timestamp`: when it was signed, in whole seconds since 1970.
    public static let webhookTimestamp = known("webhook-timestamp")
    /// `webhook-signature`: one signature for each secret, with spaces between them.
    public static let webhookSignature = known("webhook-signature")

    /// A name that is one; the fallback is never met.
    private static func known(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .authorization }
}
