import Crypto
import Foundation
import Synchronization

/// The browser's side of a subscription.
struct Subscriber: Sendable {
    private let privateKey: P256.KeyAgreement.PrivateKey
    private let publicKey: [UInt8]
    private let auth: [UInt8]
    /// The only key whose messages are accepted; `nil` accepts everybody's.
    let applicationServerKey: [UInt8]?

    /// A browser with a new key.
    init(applicationServerKey: [UInt8]?) {
        self.init(
            privateKey: P256.KeyAgreement.PrivateKey(),
            auth: (0..<16).map { _ in UInt8.random(in: 0...255) },
            applicationServerKey: applicationServerKey
        )
    }

    init(privateKey: P256.KeyAgreement.PrivateKey, auth: [UInt8], applicationServerKey: [UInt8]? = nil) {
        self.privateKey = privateKey
        self.auth = auth
        self.applicationServerKey = applicationServerKey
        publicKey = Array(privateKey.publicKey.x963Representation)
    }

    func subscription(endpoint: String) -> PushSubscription {
        PushSubscription(
            endpoint: endpoint,
            p256dh: Base64URL.encode(publicKey),
            auth: Base64URL.encode(auth)
        )
    }

    /// Decrypts a message of one record (RFC 8291 section 4, RFC 8188); `nil` when that is not possible.
    func decrypt(_ message: [UInt8]) -> [UInt8]? {
        guard message.count >= 21 else { return nil }
        let recordSize = message[16..<20].reduce(0) { $0 << 8 | Int($1) }
        let keyEnd = 21 + Int(message[20])
        guard message[20] == 65, message.count > keyEnd + 16, message.count - keyEnd <= recordSize,
            let sender = try? P256.KeyAgreement.PublicKey(x963Representation: message[21..<keyEnd]),
            let secret = try? privateKey.sharedSecretFromKeyAgreement(with: sender)
        else { return nil }
        let material = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self,
            salt: auth,
            sharedInfo: Array("WebPush: info\0".utf8) + publicKey + message[21..<keyEnd],
            outputByteCount: 32
        )
        let salt = Array(message[..<16])
        let key = Self.derive(16, from: material, salt: salt, info: "Content-Encoding: aes128gcm\0")
        let nonce = Self.derive(12, from: material, salt: salt, info: "Content-Encoding: nonce\0")
        guard let nonce = try? AES.GCM.Nonce(data: nonce.withUnsafeBytes { Array($0) }),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce,
                ciphertext: message[keyEnd..<(message.count - 16)],
                tag: message[(message.count - 16)...]
            ),
            var text = (try? AES.GCM.open(box, using: key)).map({ Array($0) })
        else { return nil }
        while text.last == 0 { text.removeLast() }
        // The delimiter of the last record.
        return text.popLast() == 2 ? text : nil
    }

    private static func derive(_ length: Int, from key: SymmetricKey, salt: [UInt8], info: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key,
            salt: salt,
            info: Array(info.utf8),
            outputByteCount: length
        )
    }
}

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

final class Subscriptions: Sendable {
    private let subscribers = Mutex<[String: Subscriber]>([:])

    /// Adds one whose endpoint has `name` as its last part.
    func add(_ subscriber: Subscriber, name: String) {
        subscribers.withLock { $0[name] = subscriber }
    }

    func subscriber(_ name: String) -> Subscriber? {
        subscribers.withLock { $0[name] }
    }
}
