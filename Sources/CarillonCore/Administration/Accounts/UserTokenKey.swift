package import struct Foundation.UUID

/// The key that a network's user tokens (JWT) are verified with; it decides the algorithm, never the token (RFC 8725 section 3.1).
package enum UserTokenKey: Sendable, Equatable {
    /// HMAC with SHA-256 and a shared secret of at least 32 bytes.
    case hs256(Secret)
    /// ECDSA on P-256 with a public key in PEM.
    case es256(publicKey: String)
    /// RSA with SHA-256 with a public key in PEM, 2,048 bits or more.
    case rs256(publicKey: String)
}

/// A key of user tokens by the id that it is listed and removed by.
package struct StoredUserTokenKey: Sendable, Equatable {
    /// How many a network may have: one that is used, one that comes after it, and some more for several issuers.
    package static let maximumCount = 5

    /// The id, which orders keys by when they were added.
    package var id: UUID
    package var key: UserTokenKey

    package init(id: UUID, key: UserTokenKey) {
        self.id = id
        self.key = key
    }
}
