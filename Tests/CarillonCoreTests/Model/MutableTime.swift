import Synchronization

@testable import CarillonCore

/// A wall clock that a test sets.
final class MutableTime: Sendable {
    private let milliseconds: Mutex<Int64>

    init(_ milliseconds: Int64) {
        self.milliseconds = Mutex(milliseconds)
    }

    var now: Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }

    func set(_ value: Int64) { milliseconds.withLock { $0 = value } }
}
