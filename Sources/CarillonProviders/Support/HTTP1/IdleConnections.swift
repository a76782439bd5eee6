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
    /// How long one is used.
    private static let maximumAge = TimeAmount.seconds(60)

    private struct Entry {
        let connection: HTTPConnection
        let since = NIODeadline.now()
        let timer: Scheduled<Void>
    }

    private struct State {
        var waiting: [Origin: [Entry]] = [:]
        var count = 0

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
        func oldest() -> HTTPConnection? {
            waiting.values.compactMap(\.first).min { $0.since < $1.since }?.connection
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
            entry.timer.cancel()
            if entry.connection.channel.isActive { return entry.connection }
        }
        return nil
    }

    /// Keeps a connection whose last answer is complete, or closes it when there are enough.
    func keep(_ connection: HTTPConnection) {
        guard .now() < connection.openedAt + Self.maximumAge else { return connection.close() }
        let timer = connection.channel.eventLoop.scheduleTask(in: maximumWait) { [weak self] () -> Void in
            self?.drop(connection)
        }
        guard state.withLock({ $0.add(Entry(connection: connection, timer: timer)) }) else {
            timer.cancel()
            return connection.close()
        }
    }

    /// Closes those that have waited longest until no more are left than that.
    func shrink(to count: Int) {
        while let oldest = state.withLock({ $0.count > max(0, count) ? $0.oldest() : nil }) { drop(oldest) }
    }

    /// Closes a connection if it still waits.
    private func drop(_ connection: HTTPConnection) {
        guard let entry = state.withLock({ $0.remove(connection) }) else { return }
        entry.timer.cancel()
        connection.close()
    }
}
