import Synchronization

/// The devices that have gone since the start, and since when.
final class Departures: Sendable {
    private let times = Mutex<[String: Duration]>([:])

    /// The device with this token, or this endpoint of Web Push, has gone.
    func add(_ token: String, at time: Duration) {
        times.withLock { $0[token] = time }
    }

    func remove(_ token: String) {
        times.withLock { $0[token] = nil }
    }

    func time(of token: String) -> Duration? {
        times.withLock { times in times.isEmpty ? nil : times[token] }
    }
}
