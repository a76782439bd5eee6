import Foundation

@testable import CarillonClient

/// Time that passes only by waiting for it.
final class ManualTime: @unchecked Sendable {
    private let lock = NSLock()
    private let start = ContinuousClock.now
    private var passed: [Duration] = []
    private let whileWaiting: @Sendable () async -> Void

    /// Time during each wait of which something else is done first.
    init(whileWaiting: @escaping @Sendable () async -> Void = {}) {
        self.whileWaiting = whileWaiting
    }

    /// The waits, in their order.
    var waits: [Duration] { lock.withLock { passed } }

    /// Waits return at once, and half of the jitter is drawn.
    var timing: Timing {
        Timing(
            now: { self.start + self.waits.reduce(.zero, +) },
            sleep: { duration in
                await self.whileWaiting()
                self.lock.withLock { self.passed.append(duration) }
            },
            date: { Date(timeIntervalSince1970: 1_795_000_000) },
            random: { 0.5 }
        )
    }
}
