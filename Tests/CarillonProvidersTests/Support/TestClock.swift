import CarillonCore
import Synchronization

/// A wall clock that stands until it is set.
final class TestClock: Sendable {
    private let time: Mutex<Timestamp>

    init(_ time: Timestamp = Timestamp(milliseconds: 1_763_632_800_000)) { self.time = Mutex(time) }

    var now: Timestamp { time.withLock { $0 } }
    var wallClock: WallClock { WallClock { self.now } }

    func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}
