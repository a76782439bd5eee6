struct LanePace: Sendable {
    /// What is assumed of a lane of which no item is through yet.
    private static let usualTime = Duration.milliseconds(100)

    private(set) var working = 0
    /// How many there were when all slots of the lane were taken; `nil` where that was not so of late.
    private(set) var most: Int?
    /// How long one was worked on, of late.
    private var time = usualTime
    /// When one was last through, or the first of those that are worked on was begun.
    private var lastStep: ContinuousClock.Instant?

    /// One is begun, for which the last slot was taken or not.
    mutating func begin(takesLastSlot: Bool, at now: ContinuousClock.Instant) {
        if working == 0 { lastStep = now }
        working += 1
        if takesLastSlot { most = working }
    }

    /// One that was begun then is through, and the next one will be begun in a moment, if there is one (`hasNext`).
    mutating func end(of start: ContinuousClock.Instant, hasNext: Bool, at now: ContinuousClock.Instant) {
        working -= 1
        if !hasNext { most = nil }
        lastStep = now
        time = (time * 3 + (now - start)) / 4
    }

    /// How many come to their turn within so long, if it goes on like this: at least as many as are worked on at a time. `nil` where there
    /// are slots.
    func count(within patience: Duration, at now: ContinuousClock.Instant) -> Int? {
        guard let most else { return nil }
        // Where nothing gets through any more, the last ones tell nothing.
        let time = max(time, lastStep.map { now - $0 } ?? .zero, .milliseconds(1))
        return most * max(1, Int(patience / time))
    }
}
