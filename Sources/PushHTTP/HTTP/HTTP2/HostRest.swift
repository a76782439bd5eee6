/// How long a host is left alone whose connections had to be ended for what it sent: a second, and twice as long each time, up to a
/// minute. Whoever has behaved for a minute begins with a second again.
struct HostRest {
    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private var length = Duration.zero
    private var end: ContinuousClock.Instant?

    /// Begins a rest; what several connections did at a time is one.
    mutating func begin(at now: ContinuousClock.Instant) {
        guard isOver(at: now) else { return }
        length = isForgotten(at: now) ? Self.shortest : min(Self.longest, length * 2)
        end = now + length
    }

    /// Whether the host may be connected to.
    func isOver(at now: ContinuousClock.Instant) -> Bool {
        end.map { $0 <= now } ?? true
    }

    /// Whether the next rest is as long as the first one.
    func isForgotten(at now: ContinuousClock.Instant) -> Bool {
        end.map { $0 + Self.longest <= now } ?? true
    }
}
