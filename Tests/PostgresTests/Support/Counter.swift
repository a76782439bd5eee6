import CarillonTesting
import Logging
import Synchronization
import Testing

@testable import Postgres

/// Counts across threads.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Counts one more, and tells how many that are.
    @discardableResult
    func increment() -> Int { count.add(1, ordering: .relaxed).newValue }

    /// Begins anew.
    func reset() { count.store(0, ordering: .relaxed) }
}

/// Counts lines.
struct CountingLogHandler: LogHandler {
    let counter: Counter
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { counter.increment() }
}

/// Lets threads of connections wait for each other.
final class Latch: Sendable {
    private let count: Monitor<Int>

    init(_ count: Int = 1) { self.count = Monitor(count) }

    func signal() { count.withLock { $0 -= 1 } }

    /// Waits in a task until the latch has been signalled as often as it asks for.
    func opened() async throws { try await eventually("the latch opens") { count.withLock { $0 <= 0 } } }

    /// Blocks the calling thread, a connection's, until the latch has been signalled as often as it asks for.
    func wait() {
        let isOpen = count.wait(atMost: .seconds(20)) { $0 <= 0 ? true : nil }
        if isOpen == nil { Issue.record("nobody signalled") }
    }
}
