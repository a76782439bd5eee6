package import CarillonCore
import Crypto

/// The token of those who run the service.
package struct OperatorToken: Sendable {
    private let hash: SHA256Digest

    /// Keeps the hash of the configured token.
    package init(_ token: Secret) {
        hash = token.reveal { SHA256.hash(data: Array($0.utf8)) }
    }

    /// Whether a token is this one; takes the same time whatever it is, since digests are compared in constant time.
    func matches(_ token: String) -> Bool {
        SHA256.hash(data: Array(token.utf8)) == hash
    }
}
