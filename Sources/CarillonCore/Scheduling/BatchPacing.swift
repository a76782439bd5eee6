/// Decides when to begin another batch beside those that run.
///
/// A batch takes whatever waits, and few large ones cost much less than many small ones. So while little waits, there is one
/// at a time; another begins when many wait, or when none of those that run is young: what they wait for must not hold up
/// everybody.
struct BatchPacing: Sendable {
    /// How many may run at a time.
    let maximum: Int
    /// How many waiting items are many.
    let crowd: Int
    /// How long a batch is young.
    let patience: Duration

    private var starts: [ContinuousClock.Instant] = []

    /// Nothing runs yet.
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

    /// When those that run are no longer young, so that another may begin; `nil` when as many run as may.
    var nextBegin: ContinuousClock.Instant? {
        starts.count < maximum ? starts.max().map { $0 + patience } : nil
    }
}
