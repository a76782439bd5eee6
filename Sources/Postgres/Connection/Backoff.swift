/// How long to wait between attempts to connect: twice as long after each failure, up to a limit.
struct Backoff: Sendable {
    var base: Duration
    var limit: Duration

    /// The wait after so many failures in a row; none, no wait.
    ///
    /// `jitter`, in `0..<1`, decides half of it, so that many clients do not come back at once.
    func delay(afterFailures failures: Int, jitter: Double) -> Duration {
        guard failures > 0 else { return .zero }
        let full = min(limit, base * (1 << min(failures - 1, 16)))
        return full * (0.5 + jitter / 2)
    }
}
