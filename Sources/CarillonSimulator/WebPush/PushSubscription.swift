/// What a browser hands to its page after subscribing.
public struct PushSubscription: Hashable, Sendable {
    /// Where messages for this browser are posted.
    public let endpoint: String
    /// The browser's public key, a point of P-256 in base64url.
    public let p256dh: String
    /// 16 bytes in base64url that only the browser and the sender know.
    public let auth: String

    /// As `PushSubscription.toJSON()` writes it.
    public var json: String {
        #"{"endpoint":"\#(endpoint)","expirationTime":null,"keys":{"p256dh":"\#(p256dh)","auth":"\#(auth)"}}"#
    }
}
