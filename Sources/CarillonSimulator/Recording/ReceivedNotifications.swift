import Synchronization

/// What the services of a ``Simulator`` got, as far as it is remembered.
package final class ReceivedNotifications: Sendable {
    fileprivate struct State {
        var recent: RecentNotifications
        var acceptedByID: [String: Int] = [:]
        var total = 0
        var accepted = 0
        var lastID = 0
        var followers: [Int: AsyncStream<ReceivedNotification>.Continuation] = [:]
    }

    private let limit: Int
    private let state: Mutex<State>

    init(limit: Int) {
        self.limit = limit
        state = Mutex(State(recent: RecentNotifications(limit: limit)))
    }

    /// How many requests for a notification have arrived, whatever was answered.
    package var total: Int { state.withLock { $0.total } }

    package var accepted: Int { state.withLock { $0.accepted } }

    /// The remembered ones, oldest first.
    package var notifications: [ReceivedNotification] { state.withLock { $0.recent.inOrder } }

    /// How often each notification id was accepted: more than once is a duplicate.
    package var acceptedByID: [String: Int] { state.withLock { $0.acceptedByID } }

    /// How many were accepted beyond the first of each id.
    package var duplicates: Int { acceptedByID.values.reduce(0) { $0 + $1 - 1 } }

    /// Forgets everything and counts from zero. Whoever waits goes on waiting.
    package func removeAll() {
        state.withLock { state in
            state.recent = RecentNotifications(limit: limit)
            state.acceptedByID = [:]
            state.total = 0
            state.accepted = 0
        }
    }

    /// What arrives from now on. The newest 10,000 wait for a reader that is slow.
    package func stream() -> AsyncStream<ReceivedNotification> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReceivedNotification.self,
            bufferingPolicy: .bufferingNewest(10_000)
        )
        let id = state.withLock { state in
            state.lastID += 1
            state.followers[state.lastID] = continuation
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.followers.removeValue(forKey: id) }
        }
        return stream
    }

    /// Waits until so many have arrived, or been accepted, since the start, and answers all that are remembered.
    ///
    /// Throws ``SimulatorError/timedOut(expected:received:)`` and `CancellationError`.
    @discardableResult
    package func wait(
        for count: Int,
        acceptedOnly: Bool = false,
        timeout: Duration = .seconds(10)
    ) async throws -> [ReceivedNotification] {
        let deadline = ContinuousClock.now + timeout
        while true {
            let received = acceptedOnly ? accepted : total
            if received >= count { return notifications }
            guard .now < deadline else { throw SimulatorError.timedOut(expected: count, received: received) }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    func add(_ notification: ReceivedNotification) {
        state.withLock { state in
            state.count(isAccepted: notification.isAccepted)
            state.recent.append(notification)
            state.countID(of: notification, limit: limit)
            for follower in state.followers.values { follower.yield(notification) }
        }
    }

    /// Counts one that nothing else is known about.
    func countAccepted() {
        state.withLock { $0.count(isAccepted: true) }
    }

    /// Ends all streams.
    func finish() {
        for follower in state.withLock({ $0.followers }).values { follower.finish() }
    }
}

extension ReceivedNotifications.State {
    fileprivate mutating func count(isAccepted: Bool) {
        total += 1
        if isAccepted { accepted += 1 }
    }

    fileprivate mutating func countID(of notification: ReceivedNotification, limit: Int) {
        guard notification.isAccepted, let id = notification.notificationID else { return }
        guard acceptedByID.count < limit || acceptedByID[id] != nil else { return }
        acceptedByID[id, default: 0] += 1
    }
}

/// The newest notifications, up to a limit.
struct RecentNotifications {
    private let limit: Int
    private var elements: [ReceivedNotification] = []
    private var oldest = 0

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Oldest first.
    var inOrder: [ReceivedNotification] { Array(elements[oldest...] + elements[..<oldest]) }

    mutating func append(_ notification: ReceivedNotification) {
        if elements.count < limit {
            elements.append(notification)
        } else {
            elements[oldest] = notification
            oldest = (oldest + 1) % limit
        }
    }
}
