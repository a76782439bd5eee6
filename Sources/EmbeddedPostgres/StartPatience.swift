/// How much longer a start may take.
///
/// While a server recovers, its time stands still: whoever stopped it then would have it begin anew at the next start, and never come
/// to an end.
struct StartPatience: Sendable {
    private static let interval = Duration.seconds(10)

    private let limit: Duration
    private var deadline: ContinuousClock.Instant
    private var spokeAt: ContinuousClock.Instant

    init(_ limit: Duration) {
        self.limit = limit
        let now = ContinuousClock.now
        (deadline, spokeAt) = (now + limit, now)
    }

    /// Whether a server that gets no further has had its time.
    var isOver: Bool { deadline <= .now }

    /// Leaves out the time since a moment, in which the server recovered.
    ///
    /// - Returns: Whether it is time to say so.
    mutating func leaveOut(since start: ContinuousClock.Instant) -> Bool {
        let now = ContinuousClock.now
        deadline += now - start
        guard now - spokeAt >= min(Self.interval, limit) else { return false }
        spokeAt = now
        return true
    }
}
