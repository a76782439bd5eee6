package import CarillonCore
import Crypto

/// The token of those who run the service, and the former one while it is being replaced.
package struct OperatorToken: Sendable {
    private let hashes: [SHA256Digest]

    /// Keeps the hashes of the configured tokens.
    package init(_ token: Secret, previous: Secret? = nil) {
        hashes = [token, previous].compactMap(\.self).map { secret in
            secret.reveal { SHA256.hash(data: Array($0.utf8)) }
        }
    }

    /// Whether a token is one of them; takes the same time whatever it is, since digests are compared in constant time, each of them.
    func matches(_ token: String) -> Bool {
        let hash = SHA256.hash(data: Array(token.utf8))
        return hashes.reduce(false) { matches, known in (hash == known) || matches }
    }
}
