import CarillonCore
import Crypto
import Foundation

/// Encrypts one message for one browser: `aes128gcm` in a single record, without padding.
///
/// - SeeAlso: RFC 8188 section 2, RFC 8291 section 3.
package enum WebPushEncryption {
    static let saltBytes = 16
    /// Salt, record size, length of the key, and the key.
    static let headerBytes = saltBytes + 4 + 1 + SubscriptionKeys.pointBytes
    /// What a message grows by: header, delimiter and tag.
    static let overheadBytes = headerBytes + 1 + 16
    /// The longest record; a body is one record, and never longer than this anyway.
    static let recordSize = UInt32(4_096)

    /// Encrypts with a key pair and a salt that are made for this message alone.
    /// - Parameters:
    ///   - plaintext: The message, at most 3,993 bytes for a body that every push service has to take.
    ///   - keys: The browser's keys.
    /// - Returns: The body of the request, 103 bytes longer than the message.
    /// - Throws: What swift-crypto throws; no input makes it throw.
    package static func encrypt(_ plaintext: [UInt8], for keys: SubscriptionKeys) throws -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let salt = generator.bytes(saltBytes)
        return try encrypt(plaintext, for: keys, from: ephemeralKey(using: &generator), salt: salt)
    }

    static func encrypt(
        _ plaintext: [UInt8],
        for keys: SubscriptionKeys,
        from ephemeral: P256.KeyAgreement.PrivateKey,
        salt: [UInt8]
    ) throws -> [UInt8] {
        let point = ephemeral.publicKey.x963Representation
        let secret = try ephemeral.sharedSecretFromKeyAgreement(with: keys.publicKey)
        let inputKey = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: keys.authSecret,
            sharedInfo: Info.key + keys.point + point,
            outputByteCount: 32
        )
        let key = HKDF<SHA256>.extract(inputKeyMaterial: inputKey, salt: salt)
        let contentKey = HKDF<SHA256>.expand(pseudoRandomKey: key, info: Info.contentKey, outputByteCount: 16)
        let nonce = HKDF<SHA256>.expand(pseudoRandomKey: key, info: Info.nonce, outputByteCount: 12)
        // The delimiter says that this is the last record.
        let sealed = try AES.GCM.seal(
            plaintext + [0x02],
            using: contentKey,
            nonce: AES.GCM.Nonce(data: nonce.withUnsafeBytes { Array($0) })
        )
        var body: [UInt8] = []
        body.reserveCapacity(plaintext.count + overheadBytes)
        body.append(contentsOf: salt)
        withUnsafeBytes(of: recordSize.bigEndian) { body.append(contentsOf: $0) }
        body.append(UInt8(point.count))
        body.append(contentsOf: point)
        body.append(contentsOf: sealed.ciphertext)
        body.append(contentsOf: sealed.tag)
        return body
    }

    /// A new key pair for one message.
    ///
    /// `PrivateKey()` takes nine times as long, nearly all of it for BoringSSL's FIPS 140 self-check of the new pair. The
    /// key itself is as good made this way: 32 bytes of the kernel's random generator, taken as they are if they are a
    /// number from 1 to n-1, which the initialiser checks, and drawn anew otherwise (about one time in 2^32). That is key
    /// generation by rejection sampling (FIPS 186-5 appendix A.2.2): every key is equally likely, with no bias from a
    /// modulo. What is left out looks for faults of the hardware; here such a fault makes one message unreadable.
    private static func ephemeralKey(using generator: inout SystemRandomNumberGenerator) -> P256.KeyAgreement.PrivateKey
    {
        while true {
            if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: generator.bytes(32)) { return key }
        }
    }

    /// The labels that keep the derived keys apart.
    private enum Info {
        static let key = Array("WebPush: info\0".utf8)
        static let contentKey = Array("Content-Encoding: aes128gcm\0".utf8)
        static let nonce = Array("Content-Encoding: nonce\0".utf8)
    }
}

extension SystemRandomNumberGenerator {
    fileprivate mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            withUnsafeBytes(of: next() as UInt64) { bytes.append(contentsOf: $0.prefix(count - bytes.count)) }
        }
        return bytes
    }
}

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
