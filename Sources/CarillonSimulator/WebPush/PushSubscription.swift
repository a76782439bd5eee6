package struct PushSubscription: Hashable, Sendable {
    package let endpoint: String
    /// The browser's public key, a point of P-256 in base64url.
    package let p256dh: String
    /// 16 bytes in base64url that only the browser and the sender know.
    package let auth: String

    /// As `PushSubscription.toJSON()` writes it.
    package var json: String {
        #"{"endpoint":"\#(endpoint)","expirationTime":null,"keys":{"p256dh":"\#(p256dh)","auth":"\#(auth)"}}"#
    }
}
