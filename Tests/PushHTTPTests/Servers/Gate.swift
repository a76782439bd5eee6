import CarillonTesting
import Synchronization

/// Holds up whoever waits until it is opened, or until so many have knocked.
final class Gate: Sendable {
    private let turnstile = Turnstile()
    private let knocksLeft: Mutex<Int>

    init(openingAfter knocks: Int = 1) { knocksLeft = Mutex(knocks) }

    /// Opens it, or brings it one step nearer to it.
    func knock() {
        let isOpen = knocksLeft.withLock { left in
            left -= 1
            return left <= 0
        }
        if isOpen { turnstile.open() }
    }

    func wait() async { await turnstile.pass() }
}
