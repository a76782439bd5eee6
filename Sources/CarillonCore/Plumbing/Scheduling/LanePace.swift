/// How fast the items of a lane are worked on.
struct LanePace: Sendable {
    /// What is assumed of a lane of which no item is through yet.
    private static let usualTime = Duration.milliseconds(100)

    /// How many are worked on.
    private(set) var working = 0
    /// How long one was worked on, of late.
    private var time = usualTime
    /// When one was last through, or the first of those that are worked on was begun.
    private var lastStep: ContinuousClock.Instant?

    /// One is begun.
    mutating func begin(at now: ContinuousClock.Instant) {
        if working == 0 { lastStep = now }
        working += 1
    }

    /// One that was begun then is through.
    mutating func end(of start: ContinuousClock.Instant, at now: ContinuousClock.Instant) {
        working -= 1
        lastStep = now
        time = (time * 3 + (now - start)) / 4
    }

    /// How many come to their turn within so long, if it goes on like this: at least as many as are worked on.
    func count(within patience: Duration, at now: ContinuousClock.Instant) -> Int {
        // Where nothing gets through any more, the last ones tell nothing.
        let time = max(time, lastStep.map { now - $0 } ?? .zero, .milliseconds(1))
        return working * max(1, Int(patience / time))
    }
}
