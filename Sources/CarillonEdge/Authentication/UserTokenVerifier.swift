package import CarillonCore
import JWTKit

/// Verifies the signatures of user tokens with one stored key, which alone decides the algorithm (RFC 8725 section 3.1).
package struct UserTokenVerifier: Sendable {
    /// The shortest secret for HS256: as long as the hash (RFC 7518 section 3.2).
    package static let minimumSecretBytes = 32
    /// Two numbers of 32 bytes (RFC 7518 section 3.4); DER is no JWS.
    private static let es256SignatureBytes = 64

    private let algorithm: any JWTAlgorithm
    private let name: String

    /// A verifier for a key.
    ///
    /// - Throws: JWTKit's errors when the key cannot be read or is too short.
    package init(_ key: UserTokenKey) async throws {
        let keys = JWTKeyCollection()
        switch key {
        case .hs256(let secret):
            let bytes = secret.reveal { Array($0.utf8) }
            guard bytes.count >= Self.minimumSecretBytes else {
                throw InvalidInput(problem: "invalid-user-token-key", pointer: "/secret", detail: "is too short")
            }
            await keys.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
            name = "HS256"
        case .es256(let publicKey):
            await keys.add(ecdsa: try ES256PublicKey(pem: publicKey))
            name = "ES256"
        case .rs256(let publicKey):
            await keys.add(rsa: try Insecure.RSA.PublicKey(pem: publicKey), digestAlgorithm: .sha256)
            name = "RS256"
        }
        algorithm = try await keys.getKey()
    }

    /// Whether the holder of the key signed the token.
    func verifies(_ token: SignedToken) -> Bool {
        guard token.algorithm == name else { return false }
        if name == "ES256", token.signature.count != Self.es256SignatureBytes { return false }
        return (try? algorithm.verify(token.signature, signs: token.signedBytes)) == true
    }
}
