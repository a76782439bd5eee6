package import CarillonCore
import Crypto
import Foundation
import Synchronization

/// Encrypts secrets at rest with AES-256-GCM (NIST SP 800-38D) under the operator's master key.
///
/// Sealed form: version 1, four bytes that name the master key, a random nonce of 12 bytes, the ciphertext, a tag of 16
/// bytes. Network and purpose are authenticated with it, so that a sealed value moved elsewhere does not open. During a
/// rotation the former master key opens too; sealed is with the current one only.
package struct SecretBox: Sendable {
    package struct Purpose: RawRepresentable, Sendable, Hashable {
        /// The purpose as it is authenticated; must never change.
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Verifies incoming events.
        static let incomingWebhook = Purpose(rawValue: "webhook-secret/incoming")
        /// Signs outgoing notifications.
        static let outgoingWebhook = Purpose(rawValue: "webhook-secret/outgoing")
        /// What was answered to a request that creates.
        static let idempotentAnswer = Purpose(rawValue: "idempotent-answer")
        static let userToken = Purpose(rawValue: "user-token-secret")
    }

    /// A master key, with what its sealed values begin with.
    private struct Key {
        let key: SymmetricKey
        let header: [UInt8]

        init?(_ bytes: [UInt8]) {
            guard bytes.count == 32 else { return nil }
            key = SymmetricKey(data: bytes)
            let name = HMAC<SHA256>.authenticationCode(for: Array("carillon master key".utf8), using: key)
            header = [SecretBox.version] + Array(name.prefix(SecretBox.keyNameLength))
        }
    }

    /// Whether anything may be sealed; the same for all copies of a box.
    private final class Permit: Sendable {
        let isGranted = Mutex<Bool?>(true)
    }

    private static let version: UInt8 = 1
    private static let keyNameLength = 4
    /// How many bytes say with which master key a value was sealed.
    static let headerLength = 1 + keyNameLength

    private let current: Key
    private let previous: Key?
    private let permit = Permit()

    /// A box with master keys of 32 bytes; `nil` for any other length. `previous`, the former one during a rotation, opens only.
    package init?(masterKey: [UInt8], previous: [UInt8]? = nil) {
        guard let key = Key(masterKey) else { return nil }
        current = key
        guard let previous else {
            self.previous = nil
            return
        }
        guard let former = Key(previous) else { return nil }
        self.previous = former.header == key.header ? nil : former
    }

    var currentHeader: [UInt8] { current.header }
    /// What values begin with that are sealed with the previous master key; `nil` without one.
    var previousHeader: [UInt8]? { previous?.header }

    /// Whether there is a previous master key, other than the current one.
    package var hasPrevious: Bool { previous != nil }

    /// Allows or forbids sealing: what another key than the database's sealed, nobody could read later. `nil` while nobody has looked.
    package func permitSealing(_ isPermitted: Bool?) {
        permit.isGranted.withLock { $0 = isPermitted }
    }

    /// Encrypts a secret for one place; without a network, for one that all share.
    /// - Throws: ``StoreError/wrongMasterKey`` while sealing is forbidden, ``StoreError/notReady`` while nobody has looked, and what the system's cryptography throws.
    package func seal(_ secret: [UInt8], for purpose: Purpose, in network: NetworkID?) throws -> [UInt8] {
        try seal(secret, for: purpose, in: network, regardless: false)
    }

    /// Encrypts, when `regardless` is true whether that is permitted or not.
    func seal(
        _ secret: [UInt8],
        for purpose: Purpose,
        in network: NetworkID?,
        regardless: Bool
    ) throws -> [UInt8] {
        if !regardless {
            guard let isGranted = permit.isGranted.withLock(\.self) else { throw StoreError.notReady }
            guard isGranted else { throw StoreError.wrongMasterKey }
        }
        let box = try AES.GCM.seal(
            secret,
            using: current.key,
            authenticating: Self.context(current.header, purpose, network)
        )
        return current.header + Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    /// Decrypts a secret that was sealed for the same place with one of the master keys.
    /// - Throws: ``StoreError/cannotUnseal``.
    package func open(_ sealed: [UInt8], for purpose: Purpose, in network: NetworkID?) throws(StoreError) -> [UInt8] {
        guard let key = [current, previous].compactMap(\.self).first(where: { sealed.starts(with: $0.header) }) else {
            throw .cannotUnseal
        }
        do {
            let box = try AES.GCM.SealedBox(combined: sealed.dropFirst(Self.headerLength))
            let context = Self.context(key.header, purpose, network)
            return Array(try AES.GCM.open(box, using: key.key, authenticating: context))
        } catch {
            throw .cannotUnseal
        }
    }

    /// The header and both names, each behind its length, so that no two contexts share their bytes.
    private static func context(_ header: [UInt8], _ purpose: Purpose, _ network: NetworkID?) -> [UInt8] {
        var bytes = header
        for name in [purpose.rawValue, network?.rawValue ?? ""] {
            withUnsafeBytes(of: UInt32(name.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: name.utf8)
        }
        return bytes
    }
}
