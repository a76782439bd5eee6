package import CarillonCore
import Crypto
import Foundation

/// Encrypts secrets at rest with AES-256-GCM (NIST SP 800-38D) under the operator's master key.
///
/// Sealed form: version 1, four bytes that name the master key, a random nonce of 12 bytes, the ciphertext, a tag of 16
/// bytes. Network and purpose are authenticated with it, so that a sealed value moved elsewhere does not open.
package struct SecretBox: Sendable {
    /// What a secret is for.
    package struct Purpose: RawRepresentable, Sendable, Hashable {
        /// The purpose as it is authenticated; must never change.
        package let rawValue: String

        /// A purpose by its name.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Verifies incoming events.
        static let incomingWebhook = Purpose(rawValue: "webhook-secret/incoming")
        /// Signs outgoing notifications.
        static let outgoingWebhook = Purpose(rawValue: "webhook-secret/outgoing")
        /// Verifies user tokens.
        static let userToken = Purpose(rawValue: "user-token-secret")
    }

    private static let version: UInt8 = 1
    private static let keyNameLength = 4
    private static let headerLength = 1 + keyNameLength

    private let key: SymmetricKey
    private let header: [UInt8]

    /// A box that opens with a master key of 32 bytes; `nil` for any other length.
    package init?(masterKey: [UInt8]) {
        guard masterKey.count == 32 else { return nil }
        key = SymmetricKey(data: masterKey)
        let name = HMAC<SHA256>.authenticationCode(for: Array("carillon master key".utf8), using: key)
        header = [Self.version] + Array(name.prefix(Self.keyNameLength))
    }

    /// Encrypts a secret for one place; without a network, for one that all share.
    /// - Throws: What the system's cryptography throws; no input makes it throw.
    package func seal(_ secret: [UInt8], for purpose: Purpose, in network: NetworkID?) throws -> [UInt8] {
        let box = try AES.GCM.seal(secret, using: key, authenticating: context(purpose, network))
        return header + Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    /// Decrypts a secret that was sealed for the same place with the same master key.
    /// - Throws: ``StoreError/cannotUnseal``.
    package func open(_ sealed: [UInt8], for purpose: Purpose, in network: NetworkID?) throws(StoreError) -> [UInt8] {
        guard sealed.starts(with: header) else { throw .cannotUnseal }
        do {
            let box = try AES.GCM.SealedBox(combined: sealed.dropFirst(Self.headerLength))
            return Array(try AES.GCM.open(box, using: key, authenticating: context(purpose, network)))
        } catch {
            throw .cannotUnseal
        }
    }

    /// The header and both names, each behind its length, so that no two contexts share their bytes.
    private func context(_ purpose: Purpose, _ network: NetworkID?) -> [UInt8] {
        var bytes = header
        for name in [purpose.rawValue, network?.rawValue ?? ""] {
            withUnsafeBytes(of: UInt32(name.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: name.utf8)
        }
        return bytes
    }
}
