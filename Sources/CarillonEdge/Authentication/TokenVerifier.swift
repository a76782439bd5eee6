package import CarillonCore
import Crypto
import CryptoExtras

/// Verifies the signatures of tokens with one key, which alone decides the algorithm (RFC 8725 section 3.1).
package struct TokenVerifier: Sendable {
    /// The shortest secret for HS256: as long as the hash (RFC 7518 section 3.2).
    package static let minimumSecretBytes = 32
    /// The shortest key for RS256 (RFC 7518 section 3.3).
    package static let minimumRSABits = 2_048

    private enum Key {
        case hs256(Secret)
        case es256(P256.Signing.PublicKey)
        case rs256(_RSA.Signing.PublicKey)
    }

    private let key: Key

    /// A verifier for a key; `nil` for one that cannot be read or is too short.
    package init?(_ key: UserTokenKey) {
        switch key {
        case .hs256(let secret):
            guard secret.reveal({ $0.utf8.count }) >= Self.minimumSecretBytes else { return nil }
            self.key = .hs256(secret)
        case .es256(let pem):
            guard let key = try? P256.Signing.PublicKey(pemRepresentation: pem) else { return nil }
            self.key = .es256(key)
        case .rs256(let pem):
            guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem),
                key.keySizeInBits >= Self.minimumRSABits
            else { return nil }
            self.key = .rs256(key)
        }
    }

    package func verifies(_ token: SignedToken) -> Bool {
        switch (key, token.algorithm) {
        case (.hs256(let secret), "HS256"): return secret.isCode(token.signature, of: token.signedBytes)
        case (.es256(let key), "ES256"):
            // Two numbers of 32 bytes (RFC 7518 section 3.4); DER is no JWS.
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature)
            return signature.map { key.isValidSignature($0, for: token.signedBytes) } ?? false
        case (.rs256(let key), "RS256"):
            let signature = _RSA.Signing.RSASignature(rawRepresentation: token.signature)
            return key.isValidSignature(signature, for: token.signedBytes, padding: .insecurePKCS1v1_5)
        default: return false
        }
    }
}
