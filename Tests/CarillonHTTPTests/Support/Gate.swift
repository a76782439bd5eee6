import CarillonTesting
import Synchronization

/// Lets nobody through until it is opened, and knows who has come.
final class Gate<Visitor: Sendable & Equatable>: Sendable {
    private let turnstile = Turnstile()
    private let visitors = Mutex<[Visitor]>([])

    /// How many have come.
    func count(of visitor: Visitor) -> Int { visitors.withLock { $0.count { $0 == visitor } } }

    /// Comes, and waits.
    func pass(_ visitor: Visitor) async {
        await turnstile.pass { visitors.withLock { $0.append(visitor) } }
    }

    /// Lets all through.
    func open() { turnstile.open() }
}
