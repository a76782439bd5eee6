import Synchronization

/// Counts across threads.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Counts one more, and tells how many that are.
    @discardableResult
    func increment() -> Int {
        count.add(1, ordering: .relaxed).newValue
    }

    /// Begins anew.
    func reset() {
        count.store(0, ordering: .relaxed)
    }
}
