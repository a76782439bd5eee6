/// How often somebody looks who is told of most things and not of all: after the same time while anything happens, and after ever longer
/// ones while nothing does.
package struct PollPace: Sendable {
    /// For how long nothing has to happen before looks become rarer.
    static let patience = Duration.seconds(2)

    let interval: Duration
    private let jitter: Double
    private let growth: Double
    let longest: Duration
    let isCalled: Bool

    /// - Parameters:
    ///   - interval: From the end of one look to the next while anything happens.
    ///   - jitter: The part of it, 0 to 1, by which it varies at random, so that replicas do not march in step.
    ///   - growth: How long a rest is, as a part of the time for which nothing has happened by then.
    ///   - longest: The longest time between two looks, however long nothing happens.
    ///   - isCalled: Whether it is looked at once when others say that they leave something.
    package init(
        interval: Duration,
        jitter: Double = 0,
        growth: Double = 0.5,
        longest: Duration = .seconds(5),
        isCalled: Bool = true
    ) {
        self.interval = interval
        self.jitter = jitter
        self.growth = growth
        self.longest = longest
        self.isCalled = isCalled
    }

    /// The time until the next look.
    ///
    /// - Parameters:
    ///   - quiet: For how long nothing has happened.
    ///   - random: -1 to 1.
    /// - Returns: The time from the end of one look.
    func rest(afterQuiet quiet: Duration, random: Double) -> Duration {
        let usual = interval * (1 + jitter * random)
        guard isResting(afterQuiet: quiet) else { return usual }
        return max(usual, min(longest, quiet * growth * (1 + jitter * random)))
    }

    /// Whether it rests for longer than it usually does.
    func isResting(afterQuiet quiet: Duration) -> Bool { quiet >= Self.patience && quiet * growth > interval }
}
