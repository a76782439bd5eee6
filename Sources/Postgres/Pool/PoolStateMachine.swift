/// Decides who gets which connection, and when one is opened or closed.
///
/// Events go in, actions come out; it performs nothing, knows no time, and can be tested without a server. A waiter is
/// served in the order it came, those with precedence before the others. Idle connections are used last in, first out, so that a calm pool uses few of them.
struct PoolStateMachine {
    typealias ConnectionID = Int
    typealias WaiterID = Int

    enum Failure: Hashable {
        case exhausted, timedOut, cancelled, shuttingDown
        /// The server lets nobody in, and asking again changes nothing.
        case refused
    }

    enum Action: Hashable {
        /// Open a connection, after the wait that belongs to so many failures in a row.
        case open(ConnectionID, failures: Int)
        /// Close a connection. One that is being opened is closed when that has ended.
        case close(ConnectionID)
        case lease(ConnectionID, to: WaiterID)
        case fail(WaiterID, Failure)
        /// All connections are closed after a shutdown.
        case finish
    }

    private enum Status {
        case opening, idle, leased
    }

    private let limit: Int
    private let waiterLimit: Int
    private var connections: [ConnectionID: Status] = [:]
    private var idle: [ConnectionID] = []
    /// Which of the leased ones a task has for as long as it works.
    private var lent: Set<ConnectionID> = []
    private var waiters: [WaiterID] = []
    /// How many of them, at the front, have precedence.
    private var preferred = 0
    private var lastConnectionID = 0
    private var failures = 0
    /// Whether the last attempt met a server that lets nobody in: the next one waits, too.
    private var isRefused = false
    private var isShuttingDown = false

    init(limit: Int, waiterLimit: Int) {
        self.limit = max(1, limit)
        self.waiterLimit = max(0, waiterLimit)
    }

    /// Whether the last attempt to connect has failed.
    var isFailing: Bool { failures > 0 }

    var statistics: PoolStatistics {
        let opening = connections.values.count { $0 == .opening }
        return PoolStatistics(
            size: connections.count - opening,
            idle: idle.count,
            opening: opening,
            waiting: waiters.count
        )
    }

    /// A caller wants a connection, `first` with precedence.
    mutating func request(_ waiter: WaiterID, first: Bool = false) -> [Action] {
        if isShuttingDown { return [.fail(waiter, .shuttingDown)] }
        if let connection = idle.popLast() {
            connections[connection] = .leased
            return [.lease(connection, to: waiter)]
        }
        guard waiters.count < waiterLimit else { return [.fail(waiter, .exhausted)] }
        waiters.insert(waiter, at: first ? preferred : waiters.endIndex)
        if first { preferred += 1 }
        return openAsNeeded(afterFailures: isRefused ? failures : 0)
    }

    /// Lends a connection that nobody uses; `nil` where there is none, or others would not find half of all.
    mutating func lend() -> ConnectionID? {
        guard !isShuttingDown, lent.count < limit / 2, let connection = idle.popLast() else { return nil }
        connections[connection] = .leased
        lent.insert(connection)
        return connection
    }

    /// A caller waits no longer. Nothing happens when it has been served already.
    mutating func withdraw(_ waiter: WaiterID, because failure: Failure) -> [Action] {
        guard let index = waiters.firstIndex(of: waiter) else { return [] }
        waiters.remove(at: index)
        if index < preferred { preferred -= 1 }
        return [.fail(waiter, failure)]
    }

    mutating func opened(_ connection: ConnectionID) -> [Action] {
        guard connections[connection] == .opening else { return [] }
        failures = 0
        isRefused = false
        return [handOut(connection)].compactMap(\.self) + openAsNeeded(afterFailures: 0)
    }

    mutating func failedToOpen(_ connection: ConnectionID) -> [Action] {
        guard connections[connection] == .opening else { return [] }
        connections[connection] = nil
        failures += 1
        return [.close(connection)] + openAsNeeded(afterFailures: failures)
    }

    /// The server lets nobody in: whoever waits is told so now, unless there are connections from before, which go on. Who comes later asks again.
    mutating func wasRefused(_ connection: ConnectionID) -> [Action] {
        guard connections[connection] == .opening else { return [] }
        connections[connection] = nil
        failures += 1
        isRefused = true
        guard connections.values.allSatisfy({ $0 == .opening }) else {
            return [.close(connection)] + openAsNeeded(afterFailures: failures)
        }
        let refusals = waiters.map { Action.fail($0, .refused) }
        waiters.removeAll()
        preferred = 0
        return [.close(connection)] + refusals
    }

    mutating func release(_ connection: ConnectionID, isReusable: Bool) -> [Action] {
        guard connections[connection] == .leased else { return [] }
        lent.remove(connection)
        guard isReusable, !isShuttingDown else {
            connections[connection] = nil
            return [.close(connection)] + openAsNeeded(afterFailures: 0) + finishIfDrained()
        }
        return [handOut(connection)].compactMap(\.self)
    }

    /// Takes no more callers, turns the waiting ones away, and ends when the last connection has come back.
    mutating func shutDown() -> [Action] {
        guard !isShuttingDown else { return [] }
        isShuttingDown = true
        let refusals = waiters.map { Action.fail($0, .shuttingDown) }
        let unused = connections.filter { $0.value != .leased }.keys.sorted()
        waiters.removeAll()
        preferred = 0
        idle.removeAll()
        for connection in unused { connections[connection] = nil }
        return refusals + unused.map(Action.close) + finishIfDrained()
    }

    private mutating func handOut(_ connection: ConnectionID) -> Action? {
        guard !waiters.isEmpty else {
            connections[connection] = .idle
            idle.append(connection)
            return nil
        }
        connections[connection] = .leased
        preferred = max(0, preferred - 1)
        return .lease(connection, to: waiters.removeFirst())
    }

    /// After failures an attempt waits; the first for a while does not.
    private mutating func openAsNeeded(afterFailures wait: Int) -> [Action] {
        // While connecting fails, one attempt at a time asks whether the server is back.
        let wanted = failures > 0 ? min(1, waiters.count) : waiters.count
        let opening = connections.values.count { $0 == .opening }
        let number = min(wanted - opening, limit - connections.count)
        guard number > 0 else { return [] }
        return (0..<number).map { _ in
            lastConnectionID += 1
            connections[lastConnectionID] = .opening
            return .open(lastConnectionID, failures: wait)
        }
    }

    private func finishIfDrained() -> [Action] {
        isShuttingDown && connections.isEmpty ? [.finish] : []
    }
}
