/// Decides when to begin another batch beside those that run.
///
/// A batch takes whatever waits, and few large ones cost much less than many small ones. So while little waits, there is one
/// at a time; another begins when many wait, or when none of those that run is young: what they wait for must not hold up
/// everybody. For that somebody has to look again at a moment when nothing else happens.
struct BatchPacing: Sendable {
    /// How many may run at a time.
    let maximum: Int
    /// How many waiting items are many.
    let crowd: Int
    /// How long a batch is young.
    let patience: Duration

    private var starts: [ContinuousClock.Instant] = []
    /// Whether somebody is going to look again.
    private var isTimed = false

    init(maximum: Int, crowd: Int, patience: Duration) {
        self.maximum = maximum
        self.crowd = crowd
        self.patience = patience
    }

    /// Begins a batch if so many items make it worth while; answers whether it did.
    mutating func begin(waiting: Int, at now: ContinuousClock.Instant) -> Bool {
        guard waiting > 0, starts.count < maximum else { return false }
        guard waiting >= crowd || starts.allSatisfy({ now - $0 >= patience }) else { return false }
        starts.append(now)
        return true
    }

    /// Ends the batch that began at this moment.
    mutating func end(_ start: ContinuousClock.Instant) {
        starts.firstIndex(of: start).map { _ = starts.remove(at: $0) }
    }

    /// Whether who comes now would wait for others who take long, or for so many batches as may run.
    func isCrowded(at now: ContinuousClock.Instant) -> Bool {
        starts.count >= maximum || starts.contains { now - $0 >= patience }
    }

    /// When to look again if so many items may begin a batch, by which time those that run are no longer young; `nil` when as
    /// many run as may, or somebody looks already. Whoever gets a moment calls ``lookAgain()`` then.
    mutating func momentToLookAgain(waiting: Int) -> ContinuousClock.Instant? {
        guard !isTimed, waiting > 0, starts.count < maximum, let youngest = starts.max() else { return nil }
        isTimed = true
        return youngest + patience
    }

    /// That moment has come.
    mutating func lookAgain() { isTimed = false }
}
