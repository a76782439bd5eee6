/// How long to wait before a delivery is tried again (API section 9).
package struct RetrySchedule: Sendable {
    /// The waits after the first failures.
    package var steps: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120), .seconds(600)]
    /// The wait after all later ones.
    package var last = Duration.seconds(3600)
    /// The part by which a wait varies, so that what failed together does not come back together.
    package var jitter = 0.2
    /// The longest wait that a push service can ask for.
    package var longestRetryAfter = Duration.seconds(86_400)

    /// The schedule of the API.
    package init() {}

    /// The wait after a failure.
    ///
    /// - Parameters:
    ///   - failures: How often it failed, this time included.
    ///   - retryAfter: What the push service asked for: never less than this.
    ///   - random: A number from -1 to 1 that the caller draws.
    /// - Returns: The wait.
    package func delay(afterFailures failures: Int, retryAfter: Duration?, random: Double) -> Duration {
        let step = steps.indices.contains(failures - 1) ? steps[failures - 1] : last
        let wait = step * (1 + jitter * random)
        guard let retryAfter else { return wait }
        return max(wait, min(retryAfter, longestRetryAfter))
    }
}
