import Synchronization

/// How fast a log grows.
final class WrittenLog: Sendable {
    private let start = Mutex((bytes: 0, at: ContinuousClock.now))

    /// Looks from now on.
    func begin(_ bytes: Int) { start.withLock { $0 = (bytes, .now) } }

    /// Megabytes a second since then.
    func rate(_ bytes: Int) -> Double {
        let (before, since) = start.withLock(\.self)
        return Double(bytes - before) / 1e6 / ((ContinuousClock.now - since) / .seconds(1))
    }
}
