import NIOCore

/// The state of one load, confined to its event loop.
final class LoadRun {
    private static let retryDelay = TimeAmount.milliseconds(100)
    private static let drainLimit = TimeAmount.seconds(15)
    /// An open loop that is this far behind is too slow for the rate, and what is due on top of it is not sent.
    private static let longestQueue = 20_000

    private let plan: LoadGenerator
    private let promise: EventLoopPromise<LoadResult>
    private let eventLoop: any EventLoop
    private var events: any LoadSource
    private var result = LoadResult()
    private var startedAt = NIODeadline.now()
    private var end = NIODeadline.distantFuture
    /// In the order in which they are used: one that carried nothing for long is closed by the service.
    private var idle = CircularBuffer<LoadConnection>()
    private var due = CircularBuffer<NIODeadline>()
    private var scheduled = 0
    private var inFlight = 0
    private var isOver = false

    init(
        _ plan: LoadGenerator,
        events: some LoadSource,
        result promise: EventLoopPromise<LoadResult>,
        eventLoop: any EventLoop
    ) {
        self.plan = plan
        self.events = events
        self.promise = promise
        self.eventLoop = eventLoop
        result.seconds = plan.duration / .seconds(1)
    }

    /// Begins to send on all connections.
    func start() {
        startedAt = .now()
        end = startedAt + TimeAmount(plan.duration)
        switch plan.pace {
        case .closedLoop:
            for connection in idle { send(on: connection, dueAt: .now()) }
            idle.removeAll()
        case .perSecond(let rate):
            tick(perSecond: rate)
        }
        let loop = eventLoop.assumeIsolated()
        loop.scheduleTask(deadline: end) { [self] in stop() }
        loop.scheduleTask(deadline: end + Self.drainLimit) { [self] in fail(HTTPFailure.timedOut) }
    }

    /// A connection is open.
    func opened(_ connection: LoadConnection) {
        idle.append(connection)
    }

    /// A request has its answer.
    func answered(_ answer: HTTPAnswer, toEvent number: Int, sentAt: NIODeadline, on connection: LoadConnection) {
        inFlight -= 1
        switch answer.status {
        case 200, 202:
            result.accepted += 1
            if answer.arrivedAt < end { result.acceptedInTime += 1 }
            result.latency.record(nanoseconds: (answer.arrivedAt - sentAt).nanoseconds)
            if plan.remembersAcceptance { result.acceptedAt[number] = answer.arrivedAt }
            next(on: connection)
        case 503:
            result.refused += 1
            eventLoop.assumeIsolated().scheduleTask(in: Self.retryDelay) { [self] in next(on: connection) }
        default:
            fail(UnexpectedAnswer(answer))
        }
        finishIfDrained()
    }

    /// Gives up.
    func fail(_ error: any Error) {
        promise.fail(error)
    }

    private func next(on connection: LoadConnection) {
        guard case .closedLoop = plan.pace else {
            if let dueAt = due.popFirst() { send(on: connection, dueAt: dueAt) } else { idle.append(connection) }
            return
        }
        if !isOver { send(on: connection, dueAt: .now()) }
    }

    private func send(on connection: LoadConnection, dueAt: NIODeadline) {
        inFlight += 1
        connection.send(&events, dueAt: dueAt)
    }

    private func tick(perSecond rate: Double) {
        guard !isOver else { return }
        sendWhatIsDue(perSecond: rate)
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [self] in tick(perSecond: rate) }
    }

    private func sendWhatIsDue(perSecond rate: Double) {
        let now = min(NIODeadline.now(), end)
        let target = Int(rate * Double((now - startedAt).nanoseconds) / 1e9)
        while scheduled < target {
            let dueAt = startedAt + .nanoseconds(Int64(Double(scheduled) / rate * 1e9))
            scheduled += 1
            if let connection = idle.popFirst() {
                send(on: connection, dueAt: dueAt)
            } else if due.count < Self.longestQueue {
                due.append(dueAt)
            } else {
                result.unsent += 1
            }
        }
    }

    /// Lets nothing become due any more.
    private func stop() {
        if case .perSecond(let rate) = plan.pace { sendWhatIsDue(perSecond: rate) }
        isOver = true
        finishIfDrained()
    }

    private func finishIfDrained() {
        if isOver, inFlight == 0, due.isEmpty { promise.succeed(result) }
    }
}
