/// The key that a network's user tokens (JWT) are verified with; it decides the algorithm, never the token (RFC 8725 section 3.1).
package enum UserTokenKey: Sendable, Equatable {
    /// HMAC with SHA-256 and a shared secret of at least 32 bytes.
    case hs256(Secret)
    /// ECDSA on P-256 with a public key in PEM.
    case es256(publicKey: String)
    /// RSA with SHA-256 with a public key in PEM, 2,048 bits or more.
    case rs256(publicKey: String)
}
