import CarillonCore
import Logging
import NIOCore
import Synchronization

/// The connections to one host, and the requests that wait for one.
final class OriginPool: HTTP2Connection.Owner {
    /// How a request gets to the host.
    enum Route: Sendable {
        case http2(HTTP2Connection)
        /// Over an HTTP/1.1 connection of its own.
        case http1
    }

    private typealias State = OriginState<HTTP2Connection, EventLoopPromise<Route>>

    private let origin: Origin
    private let connector: Connector
    private let policy: ConnectionPolicy
    private let idle: IdleConnections
    private let logger: Logger?
    private let state: Mutex<State>
    private let isClosed = Atomic(false)

    init(_ origin: Origin, connector: Connector, policy: ConnectionPolicy, idle: IdleConnections, logger: Logger?) {
        self.origin = origin
        self.connector = connector
        self.policy = policy
        self.idle = idle
        self.logger = logger
        state = Mutex(State(policy, speaksHTTP1: origin.scheme == .http))
    }

    /// Whether the pool can be forgotten.
    var isUnused: Bool { state.withLock { $0.isUnused } }

    /// Finds a place for one request.
    ///
    /// Who gets an HTTP/2 connection has to send one request over it, which gives the place back.
    /// - Throws: ``OutboundError``, `EgressRefusal` or `CancellationError`.
    func route(until deadline: NIODeadline) async throws -> Route {
        let waiting: (number: UInt64, opens: Bool, promise: EventLoopPromise<Route>)
        switch step() {
        case .ready(let route): return route
        case .refused: throw OutboundError.busy
        case .waiting(let number, let opens, let promise): waiting = (number, opens, promise)
        }
        if waiting.opens { open() }
        return try await waiting.promise.futureResult.value(until: deadline) {
            self.withdraw(waiting.number, waiting.promise)
        }
    }

    private enum Step {
        case ready(Route)
        case waiting(number: UInt64, opens: Bool, EventLoopPromise<Route>)
        case refused
    }

    private func step() -> Step {
        state.withLock { state in
            var promise: EventLoopPromise<Route>?
            let answer = state.request {
                let made = connector.group.any().makePromise(of: Route.self)
                promise = made
                return made
            }
            switch (answer, promise) {
            case (.send(let connection), _): return .ready(.http2(connection))
            case (.useHTTP1, _): return .ready(.http1)
            case (.wait(let number, let opens), let promise?): return .waiting(number: number, opens: opens, promise)
            case (.wait, nil), (.refuse, _): return .refused
            }
        }
    }

    private func withdraw(_ number: UInt64, _ promise: EventLoopPromise<Route>) {
        if let waiter = state.withLock({ $0.withdraw(number) }) {
            waiter.fail(OutboundError.timedOut)
        } else {
            // It had its turn just now: what it was given goes to the next one.
            promise.futureResult.whenSuccess { route in
                if case .http2(let connection) = route { self.requestEnded(on: connection.id) }
            }
        }
    }

    /// Opens a connection for a request that found none; if it speaks HTTP/2, others share it.
    func connect(
        until deadline: NIODeadline,
        isNeeded: @escaping @Sendable () -> Bool = { true }
    ) -> EventLoopFuture<NegotiatedConnection> {
        let settings = HTTP2Connection.Settings(policy: policy, owner: self)
        return connector.open(origin, http2: settings, until: deadline, isNeeded: isNeeded).map { connection in
            // On the connection's event loop, before anything else can happen to it.
            if case .http2(let connection) = connection { self.adopt(connection) }
            return connection
        }
    }

    /// Opens a connection for all who wait.
    private func open() {
        let isNeeded: @Sendable () -> Bool = { self.state.withLock { $0.isAwaited } }
        connect(until: .now() + TimeAmount(policy.maximumOpeningTime), isNeeded: isNeeded).whenComplete { result in
            switch result {
            case .success(.http2):
                break
            case .success(.http1(let connection)):
                self.idle.keep(connection)
                for waiter in self.state.withLock({ $0.openedHTTP1() }) { waiter.succeed(.http1) }
            case .failure(is Connector.NotNeeded), .failure(is Connector.NoPlace):
                // Who has waited as long as the opening has given up; others may have come just now.
                self.follow(self.state.withLock { $0.openingGivenUp() })
            case .failure(let error):
                for waiter in self.state.withLock({ $0.openingFailed() }) { waiter.fail(error) }
            }
        }
    }

    private func adopt(_ connection: HTTP2Connection) {
        let (consequence, idle) = state.withLock {
            ($0.opened(connection, id: connection.id, limit: connection.initialLimit), $0.idle(connection.id))
        }
        follow(consequence)
        if let idle { offer(idle) }
        if isClosed.load(ordering: .sequentiallyConsistent) { connection.close() }
    }

    /// Closes all connections, whatever is still on its way.
    func close() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        for connection in state.withLock({ $0.connections }) { connection.close() }
    }

    private func follow(_ consequence: State.Consequence) {
        for (waiter, connection) in consequence.grants { waiter.succeed(.http2(connection)) }
        if consequence.opens { open() }
    }

    func requestEnded(on connection: HTTP2Connection.ID) {
        let (consequence, idle) = state.withLock { ($0.requestEnded(on: connection), $0.idle(connection)) }
        follow(consequence)
        if let idle { offer(idle) }
    }

    /// Lets a connection without a request make room for one to another host.
    private func offer(_ connection: HTTP2Connection) {
        let id = connection.id
        let spare = SpareConnection(retire: { [weak self] in
            guard let connection = self?.state.withLock({ $0.dropIdle(id) }) else { return false }
            connection.retire()
            return true
        })
        connector.connections.isIdle(connection.channel, spare)
    }

    func limitChanged(of connection: HTTP2Connection.ID, to limit: Int) {
        follow(state.withLock { $0.limitChanged(of: connection, to: limit) })
    }

    func retired(_ connection: HTTP2Connection.ID, goAway: HTTP2Connection.GoAway?) {
        if let goAway {
            logger?.info(
                "Server sent the connection away",
                metadata: [
                    "server": "\(origin.serverName ?? "address")", "http2.code": "\(goAway.code)",
                    "http2.reason": "\(goAway.reason ?? "")",
                ]
            )
        }
        follow(state.withLock { $0.retired(connection) })
    }
}
