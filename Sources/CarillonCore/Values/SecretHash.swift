import Crypto

/// What a secret is recognised by when it comes again: its SHA-256, which is kept in its place.
///
/// Fit for secrets that nobody can guess (keys, tokens), not for passwords that people choose.
package struct SecretHash: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(of secret: String) { bytes = Array(SHA256.hash(data: Array(secret.utf8))) }

    /// As it is stored.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Whether this is the secret; takes the same time wherever they differ.
    package func matches(_ secret: String) -> Bool { SHA256.hash(data: Array(secret.utf8)) == bytes }
}
