extension FairQueue {
    /// Whether a lane's items get their turns.
    package enum LaneState: Sendable, Equatable {
        /// They do.
        case sending
        /// One of them is finding out whether the others can follow.
        case probing
        /// They do not. When `until` has come, the next one is the probe.
        case paused(until: ContinuousClock.Instant, reason: String)
    }
}
