import NIOCore
import Synchronization

/// Connections that wait for the next request to the same origin.
///
/// A fan-out sends many requests to the same few hosts within seconds: that is what these are for. None waits long, nor
/// grows old, so that a host that moves to another address is followed.
final class IdleConnections: Sendable {
    /// How many are kept for one origin: as many as a group of devices uses at a time.
    private static let maximumPerOrigin = 64
    /// How many are kept altogether.
    private static let maximum = 512
    private static let maximumAge = TimeAmount.seconds(60)

    private struct Entry {
        let connection: HTTPConnection
        let since = NIODeadline.now()
    }

    private struct State {
        var waiting: [Origin: [Entry]] = [:]
        var count = 0
        /// Whether somebody looks for those that have waited long enough.
        var isWatched = false

        mutating func takeLast(of origin: Origin) -> Entry? {
            guard let entry = waiting[origin]?.popLast() else { return nil }
            forgetOne(of: origin)
            return entry
        }

        mutating func add(_ entry: Entry) -> Bool {
            let origin = entry.connection.origin
            guard count < maximum, waiting[origin, default: []].count < maximumPerOrigin else { return false }
            waiting[origin, default: []].append(entry)
            count += 1
            return true
        }

        /// The one that has waited longest.
        func oldest() -> Entry? {
            waiting.values.compactMap(\.first).min { $0.since < $1.since }
        }

        mutating func remove(_ connection: HTTPConnection) -> Entry? {
            let origin = connection.origin
            guard let index = waiting[origin]?.firstIndex(where: { $0.connection === connection }) else { return nil }
            defer { forgetOne(of: origin) }
            return waiting[origin]?.remove(at: index)
        }

        private mutating func forgetOne(of origin: Origin) {
            count -= 1
            if waiting[origin]?.isEmpty == true { waiting[origin] = nil }
        }
    }

    private let maximumWait: TimeAmount
    private let state = Mutex(State())

    /// - Parameter maximumWait: How long one waits: less than most servers do.
    init(maximumWait: TimeAmount) {
        self.maximumWait = maximumWait
    }

    deinit {
        for entry in state.withLock({ $0.waiting.values.joined() }) { entry.connection.close() }
    }

    /// The connection that has waited least, for one request.
    func take(_ origin: Origin) -> HTTPConnection? {
        while let entry = state.withLock({ $0.takeLast(of: origin) }) {
            if entry.connection.channel.isActive { return entry.connection }
        }
        return nil
    }

    /// Keeps a connection whose last answer is complete, or closes it when there are enough.
    func keep(_ connection: HTTPConnection) {
        guard .now() < connection.openedAt + Self.maximumAge else { return connection.close() }
        let (isKept, isWatched) = state.withLock { state in
            guard state.add(Entry(connection: connection)) else { return (false, true) }
            defer { state.isWatched = true }
            return (true, state.isWatched)
        }
        guard isKept else { return connection.close() }
        if !isWatched { watch(on: connection.channel.eventLoop, until: .now() + maximumWait) }
    }

    /// Closes those that have waited long enough, with one timer for all: a timer for each would be set for each request.
    private func watch(on eventLoop: any EventLoop, until moment: NIODeadline) {
        _ = eventLoop.scheduleTask(deadline: moment) { [weak self] () -> Void in
            guard let self else { return }
            while let oldest = nextToWatch() {
                guard oldest.since + maximumWait <= .now() else {
                    return watch(on: eventLoop, until: oldest.since + maximumWait)
                }
                drop(oldest.connection)
            }
        }
    }

    /// The one that has waited longest; without one nobody looks any more.
    private func nextToWatch() -> Entry? {
        state.withLock { state in
            let oldest = state.oldest()
            state.isWatched = oldest != nil
            return oldest
        }
    }

    /// Closes those that have waited longest until no more are left than that.
    func shrink(to count: Int) {
        while let oldest = state.withLock({ $0.count > max(0, count) ? $0.oldest() : nil }) { drop(oldest.connection) }
    }

    /// Closes a connection if it still waits.
    private func drop(_ connection: HTTPConnection) {
        guard state.withLock({ $0.remove(connection) }) != nil else { return }
        connection.close()
    }
}
