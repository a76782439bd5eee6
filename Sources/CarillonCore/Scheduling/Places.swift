import Synchronization

/// So many things may be done at a time, and no more.
final class Places: Sendable {
    private let free: Mutex<Int>

    /// `count` places, all free.
    init(_ count: Int) {
        free = Mutex(count)
    }

    /// Takes a place; `false` when there is none.
    func take() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    /// Gives a place back.
    func giveBack() { free.withLock { $0 += 1 } }
}
