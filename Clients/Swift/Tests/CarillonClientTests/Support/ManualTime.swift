import Foundation

@testable import CarillonClient

/// Time that passes only by waiting for it.
final class ManualTime: @unchecked Sendable {
    private let lock = NSLock()
    private let start = ContinuousClock.now
    private var passed: [Duration] = []

    /// The waits, in their order.
    var waits: [Duration] { lock.withLock { passed } }

    /// Waits return at once, and half of the jitter is drawn.
    var timing: Timing {
        Timing(
            now: { self.start + self.waits.reduce(.zero, +) },
            sleep: { duration in self.lock.withLock { self.passed.append(duration) } },
            date: { Date(timeIntervalSince1970: 1_795_000_000) },
            random: { 0.5 }
        )
    }
}
