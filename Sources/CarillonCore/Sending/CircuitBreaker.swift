/// Keeps a lane from being sent to while nothing in it can succeed.
///
/// Closed: everything goes. Open: nothing goes until its time is over. Probing: one group goes; when that succeeds the
/// circuit closes, when it does not it opens again for twice as long. Nothing that waits meanwhile counts as an attempt.
struct CircuitBreaker<Instant: InstantProtocol> where Instant.Duration == Duration {
    /// Since when and why a circuit is open.
    struct Opening: Equatable {
        var since: Timestamp
        var reason: String
    }

    private enum State {
        case closed
        case open(until: Instant)
        case probing
    }

    private static var firstPause: Duration { .seconds(15) }
    private static var longestPause: Duration { .seconds(600) }

    private var state = State.closed
    private var pause = Self.firstPause
    private(set) var opening: Opening?

    init() {}

    /// Whether a group may go now; the first to ask after the pause is the probe.
    mutating func admits(at now: Instant) -> Bool {
        switch state {
        case .closed:
            return true
        case .open(let until) where until <= now:
            state = .probing
            return true
        case .open, .probing:
            return false
        }
    }

    /// Whether a group that asks now would have to wait.
    func refuses(at now: Instant) -> Bool {
        switch state {
        case .closed: false
        case .open(let until): until > now
        case .probing: true
        }
    }

    /// Whether the answer to a probe is being waited for.
    var isProbing: Bool {
        if case .probing = state { true } else { false }
    }

    /// When its pause ends or has ended; `nil` when it is not open.
    var pauseEnd: Instant? {
        if case .open(let until) = state { until } else { nil }
    }

    /// How long it stays open at least; `nil` when it is not open.
    func remaining(at now: Instant) -> Duration? {
        guard case .open(let until) = state, until > now else { return nil }
        return now.duration(to: until)
    }

    /// Something went through.
    mutating func succeeded() {
        state = .closed
        pause = Self.firstPause
        opening = nil
    }

    /// The probe ended without telling anything: the next one to ask is the probe.
    mutating func probeEnded(at now: Instant) {
        if case .probing = state { state = .open(until: now) }
    }

    /// Nothing can go through for now.
    ///
    /// - Parameters:
    ///   - now: The time of waiting.
    ///   - wallTime: The time to show to people.
    ///   - retryAfter: The pause that the push service asked for; otherwise each is twice the last such.
    ///   - reason: What to show to people.
    mutating func open(at now: Instant, wallTime: Timestamp, retryAfter: Duration?, reason: String) {
        if case .open(let until) = state, until > now {
            state = .open(until: max(until, now.advanced(by: retryAfter ?? .zero)))
            return
        }
        state = .open(until: now.advanced(by: retryAfter ?? pause))
        if retryAfter == nil { pause = min(pause * 2, Self.longestPause) }
        opening = Opening(since: opening?.since ?? wallTime, reason: reason)
    }
}
