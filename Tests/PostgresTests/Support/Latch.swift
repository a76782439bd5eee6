import Testing

@testable import Postgres

/// Lets threads of connections wait for each other.
final class Latch: Sendable {
    private let count: Monitor<Int>

    init(_ count: Int = 1) {
        self.count = Monitor(count)
    }

    func signal() {
        count.withLock { $0 -= 1 }
    }

    /// Waits in a task until the latch has been signalled as often as it asks for.
    func opened() async throws {
        try await eventually("the latch opens") { count.withLock { $0 <= 0 } }
    }

    /// Blocks the calling thread, a connection's, until the latch has been signalled as often as it asks for.
    func wait() {
        let isOpen = count.wait(atMost: .seconds(20)) { $0 <= 0 ? true : nil }
        if isOpen == nil { Issue.record("nobody signalled") }
    }
}
