import DequeModule

/// The names that could not be looked up lately, as many as fit.
struct RecentFailures: Sendable {
    private static let mostNames = 4_096

    private let lifetime: Duration
    private var errors: [String: (error: OutboundError, until: ContinuousClock.Instant)] = [:]
    /// The names in the order in which they will be forgotten; one that failed again since is further back once more.
    private var order: Deque<(name: String, until: ContinuousClock.Instant)> = []

    init(lifetime: Duration) {
        self.lifetime = lifetime
    }

    var count: Int { errors.count }

    func failure(of name: String, at now: ContinuousClock.Instant) -> OutboundError? {
        errors[name].flatMap { now < $0.until ? $0.error : nil }
    }

    mutating func note(_ error: OutboundError, of name: String, at now: ContinuousClock.Instant) {
        guard lifetime > .zero else { return }
        while let first = order.first, first.until <= now || order.count >= Self.mostNames {
            order.removeFirst()
            if errors[first.name]?.until == first.until { errors[first.name] = nil }
        }
        errors[name] = (error, now + lifetime)
        order.append((name, now + lifetime))
    }
}
