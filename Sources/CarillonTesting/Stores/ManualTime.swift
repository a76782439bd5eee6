package import CarillonCore
import Synchronization

/// A time that stands still until it is moved.
package final class ManualTime: Sendable {
    private let start: Timestamp
    private let moment: Mutex<Timestamp>

    package init(_ start: Timestamp) {
        self.start = start
        moment = Mutex(start)
    }

    /// The time for what is written down.
    package var clock: WallClock { WallClock { [self] in moment.withLock(\.self) } }

    /// The same time for what must not run backwards.
    package var monotonic: @Sendable () -> ContinuousClock.Instant {
        let began = ContinuousClock.now
        return { [self] in began + (clock.now() - start) }
    }

    package func advance(by duration: Duration) { moment.withLock { $0 = $0 + duration } }
}
