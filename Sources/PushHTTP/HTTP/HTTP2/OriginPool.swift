import CarillonCore
import Logging
import NIOCore
import Synchronization

/// The connections to one host, and the requests that wait for one.
final class OriginPool: HTTP2Connection.Owner {
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
    private let waitsForSlot = Atomic(false)

    /// A pool of connections to a host, to which `maximumRequests` are on their way at a time at the most.
    init(
        _ origin: Origin,
        connector: Connector,
        policy: ConnectionPolicy,
        maximumRequests: Int?,
        idle: IdleConnections,
        logger: Logger?
    ) {
        self.origin = origin
        self.connector = connector
        self.policy = policy
        self.idle = idle
        self.logger = logger
        state = Mutex(State(policy, maximumRequests: maximumRequests, speaksHTTP1: origin.scheme == .http))
    }

    /// Whether the pool can be forgotten.
    var isUnused: Bool { state.withLock { $0.isUnused } }

    /// How many requests wait for a connection or a stream.
    var waiting: Int { state.withLock { $0.waiting } }

    /// Finds a connection for one request.
    ///
    /// Who gets an HTTP/2 connection has to send one request over it, which gives the stream back.
    /// When streams are scarce, turns go round the networks and then their lanes.
    /// - Throws: ``OutboundError``, `EgressRefusal` or `CancellationError`.
    func route(of lane: Lane?, until deadline: NIODeadline) async throws -> Route {
        let waiting: (number: UInt64, opens: Bool, promise: EventLoopPromise<Route>)
        switch step(lane) {
        case .ready(let route): return route
        case .refused: throw OutboundError.busy
        case .leftAlone: throw OutboundError.timedOut
        case .waiting(let number, let opens, let promise): waiting = (number, opens, promise)
        }
        if waiting.opens { open() } else { watchProof(on: waiting.promise.futureResult.eventLoop) }
        do {
            return try await waiting.promise.futureResult.value(until: deadline) {
                self.withdraw(waiting.number, lane, waiting.promise)
            }
        } catch OutboundError.timedOut where waitsForSlot.load(ordering: .relaxed) {
            // It is not this host that did not answer.
            throw OutboundError.busy
        }
    }

    private enum Step {
        case ready(Route)
        case waiting(number: UInt64, opens: Bool, EventLoopPromise<Route>)
        case refused
        case leftAlone
    }

    private func step(_ lane: Lane?) -> Step {
        state.withLock { state in
            var promise: EventLoopPromise<Route>?
            let answer = state.request(of: lane) {
                let made = connector.group.any().makePromise(of: Route.self)
                promise = made
                return made
            }
            switch (answer, promise) {
            case (.send(let connection), _): return .ready(.http2(connection))
            case (.useHTTP1, _): return .ready(.http1)
            case (.wait(let number, let opens), let promise?): return .waiting(number: number, opens: opens, promise)
            case (.wait, nil), (.refuse, _): return .refused
            case (.leftAlone, _): return .leftAlone
            }
        }
    }

    /// - Returns: Why it did not get its turn, where it is others who have all that it waited for.
    private func withdraw(_ number: UInt64, _ lane: Lane?, _ promise: EventLoopPromise<Route>) -> OutboundError? {
        let (waiter, isOthers) = state.withLock { ($0.withdraw(number, of: lane), $0.isTakenByOthers(than: lane)) }
        if let waiter {
            waiter.fail(OutboundError.timedOut)
        } else {
            // It had its turn just now: what it was given goes to the next one.
            promise.futureResult.whenSuccess { route in
                if case .http2(let connection) = route { self.requestEnded(on: connection.id, of: lane) }
            }
        }
        return isOthers ? .busy : nil
    }

    /// When the request that is to prove a credential is not answered for a while, those who wait try beside it.
    private func watchProof(on eventLoop: any EventLoop) {
        guard policy.provesCredentialFirst, state.withLock({ $0.beginWatchingProof() }) else { return }
        eventLoop.scheduleTask(in: TimeAmount(policy.proofPatience)) {
            if self.state.withLock({ $0.endWatchingProof() }) { self.open() }
            self.watchProof(on: eventLoop)
        }
    }

    /// Opens a connection; if it speaks HTTP/2, others share it.
    func connect(in slot: OpenConnections.Slot, until deadline: NIODeadline) -> EventLoopFuture<NegotiatedConnection> {
        // Those of HTTP/1.1 that carry no request have no slots: they make room.
        idle.shrink(to: connector.connections.maximum - connector.connections.count)
        let settings = HTTP2Connection.Settings(policy: policy, owner: self)
        return connector.open(origin, in: slot, http2: settings, until: deadline).map { connection in
            // On the connection's event loop, before anything else can happen to it.
            if case .http2(let connection) = connection { self.adopt(connection) }
            return connection
        }
    }

    /// Opens a connection for all who wait.
    private func open() {
        let deadline = NIODeadline.now() + TimeAmount(policy.maximumOpeningTime)
        let slot: EventLoopFuture<OpenConnections.Slot>
        switch connector.connections.claim(for: origin, on: connector.group.any(), until: deadline) {
        // Nobody waits for a slot that is there: a busy event loop is no reason to say so.
        case .granted(let slot): return open(in: slot)
        case .awaited(let awaited): slot = awaited
        }
        waitsForSlot.store(true, ordering: .relaxed)
        slot.whenComplete { result in
            self.waitsForSlot.store(false, ordering: .relaxed)
            switch result {
            case .success(let slot): self.open(in: slot)
            case .failure where .now() >= deadline:
                // Who has waited as long as the opening has given up; others may have come just now.
                self.follow(self.state.withLock { $0.openingGivenUp() })
            case .failure(let error):
                for waiter in self.state.withLock({ $0.openingFailed() }) { waiter.fail(error) }
            }
        }
    }

    private func open(in slot: OpenConnections.Slot) {
        guard state.withLock({ $0.isAwaited }) else {
            slot.giveBack()
            return follow(state.withLock { $0.openingGivenUp() })
        }
        // However long it waited for its slot: who waits for it may have all the time that opening takes.
        connect(in: slot, until: .now() + TimeAmount(policy.maximumOpeningTime)).whenComplete { result in
            switch result {
            case .success(.http2):
                break
            case .success(.http1(let connection)):
                self.idle.keep(connection)
                slot.giveBack()
                for waiter in self.state.withLock({ $0.openedHTTP1() }) { waiter.succeed(.http1) }
            case .failure(let error):
                slot.giveBack()
                for waiter in self.state.withLock({ $0.openingFailed() }) { waiter.fail(error) }
            }
        }
    }

    private func adopt(_ connection: HTTP2Connection) {
        let (consequence, idle) = state.withLock {
            ($0.opened(connection, id: connection.id, limit: connection.initialLimit), $0.idle(connection.id))
        }
        follow(consequence)
        watchProof(on: connection.channel.eventLoop)
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
        for waiter in consequence.unanswered { waiter.fail(OutboundError.timedOut) }
    }

    func requestEnded(on connection: HTTP2Connection.ID, of lane: Lane?) {
        let (consequence, idle) = state.withLock { ($0.requestEnded(on: connection, of: lane), $0.idle(connection)) }
        follow(consequence)
        if let idle { offer(idle) }
    }

    /// Lets a connection without a request make room for one to another host.
    private func offer(_ connection: HTTP2Connection) {
        let id = connection.id
        connector.connections.isIdle(connection.channel) { [weak self] in
            guard let connection = self?.state.withLock({ $0.dropIdle(id) }) else { return false }
            connection.retire()
            return true
        }
    }

    func limitChanged(of connection: HTTP2Connection.ID, to limit: Int) {
        follow(state.withLock { $0.limitChanged(of: connection, to: limit) })
    }

    func sentAway(_ connection: HTTP2Connection.ID) {
        logger?.debug(
            "Server was sent away for frames that mean nothing",
            metadata: ["server": "\(origin.serverName ?? "address")"]
        )
        follow(state.withLock { $0.sentAway(connection) })
    }

    func retired(_ connection: HTTP2Connection.ID, goAway: HTTP2Connection.GoAway?) {
        if let goAway {
            logger?.debug(
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
