package import CarillonCore

/// The token of those who run the service, and the former one while it is being replaced.
package struct OperatorToken: Sendable {
    private let hashes: [SecretHash]

    /// Keeps the hashes of the configured tokens.
    package init(_ token: Secret, previous: Secret? = nil) {
        hashes = [token, previous].compactMap(\.self).map { $0.reveal(SecretHash.init(of:)) }
    }

    /// Whether a token is one of them; takes the same time whatever it is.
    func matches(_ token: String) -> Bool {
        hashes.reduce(false) { matches, known in known.matches(token) || matches }
    }
}
