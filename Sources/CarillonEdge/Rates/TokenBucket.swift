/// A rate with ten seconds' worth at once, or as much as is said: a bucket that fills by itself, and from which is taken.
///
/// A value that knows no clock: times are durations since a moment of the caller's choice, and one that lies before the
/// last is taken for the last. What is taken is kept as the time that it takes to come back, so that nothing is rounded.
struct TokenBucket: Sendable {
    /// How long an empty bucket takes to fill, unless somebody says what it holds: what may come at once after a silence.
    static let depth = Duration.seconds(10)

    /// How long this one takes to fill.
    private var depth = Self.depth
    /// After how long it is full; more than ``depth`` when more was taken at once than a bucket holds.
    private var debt = Duration.zero
    private var updatedAt: Duration

    init(at now: Duration) {
        updatedAt = now
    }

    /// Takes tokens, unless there are too few.
    ///
    /// More than a bucket can ever hold is given when it is full, and waited for afterwards: the rate holds in the long run.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - rate: How many there are per second, at least one. When it changes, the bucket is as full as it was.
    ///   - burst: How many it holds; `nil` for what comes in ``depth``.
    ///   - now: The time.
    /// - Returns: `nil` when they were taken, otherwise after how long they will be there.
    mutating func take(_ count: Int, rate: Int, burst: Int? = nil, at now: Duration) -> Duration? {
        refill(at: now)
        let one = Duration.seconds(1) / max(1, rate)
        let cost = one * count
        depth = burst.map { one * max(1, $0) } ?? Self.depth
        let wait = debt + min(cost, depth) - depth
        guard wait <= .zero else { return wait }
        debt += cost
        return nil
    }

    /// Gives tokens back that were taken at a rate, and turn out not to count.
    mutating func giveBack(_ count: Int, rate: Int, at now: Duration) {
        refill(at: now)
        debt = max(.zero, debt - .seconds(1) / max(1, rate) * count)
    }

    /// After how long there is a token; `nil` when there is one. Takes nothing.
    func wait(rate: Int, at now: Duration) -> Duration? {
        var copy = self
        return copy.take(1, rate: rate, at: now)
    }

    /// How full it is at a moment: at 1 it is like a new one, below 0 more was taken than it holds.
    func fullness(at now: Duration) -> Double {
        var copy = self
        copy.refill(at: now)
        return 1 - copy.debt / depth
    }

    private mutating func refill(at now: Duration) {
        debt = max(.zero, debt - max(.zero, now - updatedAt))
        updatedAt = max(updatedAt, now)
    }
}
