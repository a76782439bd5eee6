import Synchronization

/// Remembers to which tokens a request has come, for tokens that fail once only.
final class FirstRequests: Sendable {
    private static let limit = 100_000
    private let tokens = Mutex<Set<String>>([])

    /// Whether this is the first request to the token. Beyond the limit none is called the first.
    func isFirst(_ token: String) -> Bool {
        tokens.withLock { tokens in
            guard tokens.count < Self.limit else { return false }
            return tokens.insert(token).inserted
        }
    }
}
