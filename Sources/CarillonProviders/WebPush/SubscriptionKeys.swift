import CarillonCore
import Crypto

/// A browser's keys, by which it alone can read what is sent to it (RFC 8291 section 3).
package struct SubscriptionKeys: Sendable {
    /// An uncompressed point of P-256.
    static let pointBytes = 65
    static let authSecretBytes = 16

    let publicKey: P256.KeyAgreement.PublicKey
    /// The public key as it was written, 65 bytes.
    let point: [UInt8]
    let authSecret: [UInt8]

    /// Reads the two values of a subscription, in base64url without padding.
    ///
    /// `nil` when `p256dh` is no uncompressed point on the curve, or `auth` has not 16 bytes.
    package init?(p256dh: String, auth: String) {
        guard let point = Base64URL.decode(p256dh.utf8), point.count == Self.pointBytes,
            let publicKey = try? P256.KeyAgreement.PublicKey(x963Representation: point),
            let authSecret = Base64URL.decode(auth.utf8), authSecret.count == Self.authSecretBytes
        else { return nil }
        self.publicKey = publicKey
        self.point = point
        self.authSecret = authSecret
    }
}
