import Synchronization

final class Subscriptions: Sendable {
    private let subscribers = Mutex<[String: Subscriber]>([:])

    /// Adds one whose endpoint has `name` as its last part.
    func add(_ subscriber: Subscriber, name: String) {
        subscribers.withLock { $0[name] = subscriber }
    }

    func subscriber(_ name: String) -> Subscriber? {
        subscribers.withLock { $0[name] }
    }
}
