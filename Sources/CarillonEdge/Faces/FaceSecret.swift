package import CarillonCore
import Crypto

/// Signs what a face's callers are handed and come back with, so that any replica recognises it (HMAC-SHA256, RFC 2104).
///
/// The keys are derived from the service's master key, one for each face. During a rotation what the former one signed holds, too.
package struct FaceSecret: Sendable {
    private let keys: [SymmetricKey]

    /// A secret of the service's master key.
    /// - Parameters:
    ///   - masterKey: Signs and verifies.
    ///   - previous: Verifies only: the former one, during a rotation.
    package init(masterKey: [UInt8], previous: [UInt8]? = nil) {
        keys = [masterKey, previous].compactMap { $0.map { SymmetricKey(data: $0) } }
    }

    /// A secret that nobody else has.
    package init() {
        keys = [SymmetricKey(size: .bits256)]
    }

    package func sign(_ bytes: [UInt8], for face: FaceName) -> [UInt8] {
        guard let key = keys.first else { return [] }
        return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: Self.key(of: face, from: key)))
    }

    /// Whether a token was signed here; takes the same time wherever the signatures differ.
    package func signed(_ token: SignedToken, for face: FaceName) -> Bool {
        token.algorithm == "HS256"
            && keys.contains { key in
                HMAC<SHA256>.isValidAuthenticationCode(
                    token.signature,
                    authenticating: token.signedBytes,
                    using: Self.key(of: face, from: key)
                )
            }
    }

    private static func key(of face: FaceName, from key: SymmetricKey) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key,
            info: Array("carillon face \(face.rawValue)".utf8),
            outputByteCount: SHA256.byteCount
        )
    }
}
