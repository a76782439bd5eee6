/// A load at a steady rate, and how far behind the service was while it lasted.
struct Observation: Sendable {
    /// What was seen at one moment.
    struct Sample: Sendable {
        /// Seconds since the beginning.
        let time: Double
        /// How much work waited, as the seconds in which it came in: notifications to go out, divided by their rate.
        let lag: Double
        /// The service's own `carillon_queue_age_seconds`.
        let queueAge: Double
    }

    /// The rate that was asked for, in events a second.
    let rate: Double
    /// What became of the requests.
    let load: LoadResult
    /// Notifications that went out while the load lasted, a second.
    let notificationRate: Double
    /// What was seen, in order.
    let samples: [Sample]

    /// By how many seconds the lag grew from the first third to the last.
    var lagGrowth: Double { growth(of: \.lag) }

    /// By how many seconds the queue age grew from the first third to the last.
    var queueAgeGrowth: Double { growth(of: \.queueAge) }

    /// The growth, in seconds, below which something counts as flat: half a second, in short loads a twentieth of them.
    var allowedGrowth: Double { min(0.5, 0.05 * load.seconds) }

    /// Whether the service kept up: everything was taken, and what waited did not get more and more.
    var isSustained: Bool {
        load.unsent == 0 && load.refused == 0 && load.rate >= 0.97 * rate
            && lagGrowth < allowedGrowth && queueAgeGrowth < allowedGrowth
    }

    private func growth(of value: (Sample) -> Double) -> Double {
        let third = max(1, samples.count / 3)
        return Series(samples.suffix(third).map(value)).mean - Series(samples.prefix(third).map(value)).mean
    }
}
