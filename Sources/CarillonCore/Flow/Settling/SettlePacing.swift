/// Decides when outcomes are written, by the age of the oldest that waits.
///
/// A write takes whatever waits, and few large ones cost much less than many small ones. So while there is time, outcomes gather,
/// and one write follows the other. When the oldest would be late if it waited for the write that is under way, another one
/// begins beside it.
///
/// A value without a clock: whoever has it says what time it is.
struct SettlePacing: Sendable {
    /// How old an outcome is at the most when it is written down (promise P3).
    static let limit = Duration.milliseconds(250)
    /// How long outcomes gather, from the beginning of the last write.
    static let patience = Duration.milliseconds(20)
    /// With so many settlements waiting, they are not left to gather more.
    private static let crowd = 64
    /// How many writes there are at a time: each takes one of the few connections to the database.
    private static let maximum = 2
    /// By how much less a write is expected to take with each second in which none took as long as the longest.
    private static let easing = Duration.milliseconds(10)

    private var starts: [ContinuousClock.Instant] = []
    /// Those beside which another write was under way.
    private var beside: Set<ContinuousClock.Instant> = []
    private var lastStart: ContinuousClock.Instant?
    private var longest: (time: Duration, at: ContinuousClock.Instant)?

    var isWriting: Bool { !starts.isEmpty }

    /// How long a write is expected to take: as long as the longest lately, since what made it slow mostly comes again.
    func writeTime(at now: ContinuousClock.Instant) -> Duration {
        longest.map { max(.zero, $0.time - Self.easing * ((now - $0.at) / .seconds(1))) } ?? .zero
    }

    /// Whether the oldest outcome that waits is too old, since no write is free to take it: as long as that is so, whatever was sent
    /// would only be more that is sent again if the process died. So that is bounded by two writes and what is sent within the limit.
    static func isLate(oldest: ContinuousClock.Instant?, at now: ContinuousClock.Instant) -> Bool {
        oldest.map { $0 + limit < now } ?? false
    }

    /// A write took so long; beyond the limit it makes no difference any more how long that was.
    mutating func note(_ time: Duration, at now: ContinuousClock.Instant) {
        let time = min(time, Self.limit)
        if time >= writeTime(at: now) { longest = (time, now) }
    }

    /// Begins a write if it is time for it.
    ///
    /// - Parameters:
    ///   - waiting: How many settlements wait that could be written.
    ///   - oldest: Since when the oldest outcome among them has been known; `nil` where none was sent.
    ///   - now: The time.
    /// - Returns: Whether it did.
    mutating func begin(waiting: Int, oldest: ContinuousClock.Instant?, at now: ContinuousClock.Instant) -> Bool {
        guard let moment = moment(waiting: waiting, oldest: oldest, at: now), moment <= now else { return false }
        if isWriting { beside.formUnion(starts + [now]) }
        starts.append(now)
        lastStart = now
        return true
    }

    /// The write that began at this moment is over; answers whether there was another one meanwhile.
    mutating func end(_ start: ContinuousClock.Instant) -> Bool {
        starts.removeAll { $0 == start }
        return beside.remove(start) != nil
    }

    /// When the next write begins if nothing else happens before; `nil` when not before one is over, or something comes.
    func moment(
        waiting: Int,
        oldest: ContinuousClock.Instant?,
        at now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant? {
        guard waiting > 0, starts.count < Self.maximum else { return nil }
        guard let lastStart else { return now }
        let gathered = lastStart + Self.patience
        guard isWriting else { return waiting >= Self.crowd ? now : gathered }
        return oldest.map { max(gathered, $0 + Self.limit - Self.patience - writeTime(at: now)) }
    }
}
