import NIOCore
import NIOPosix

/// Posts events over keep-alive connections, all from one thread, as cheaply as it can.
struct LoadGenerator: Sendable {
    /// When a request is sent.
    enum Pace: Sendable {
        /// On each connection as soon as the former one is answered.
        case closedLoop
        /// At a steady rate, whatever the answers do; a request waits for a free connection, and that counts as latency.
        case perSecond(Double)
    }

    /// The port to post to.
    let port: Int
    /// How many connections there are.
    var connections = 64
    /// When a request is sent.
    var pace = Pace.closedLoop
    /// How long requests are sent.
    let duration: Duration
    /// Whether to keep when each 202 came.
    var remembersAcceptance = false

    /// Posts events until the time is over and everything is answered.
    /// - Throws: ``UnexpectedAnswer`` at anything but 200, 202 and 503, ``HTTPFailure``, or why there is no connection.
    func post(_ events: some LoadSource) async throws -> LoadResult {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: LoadResult.self)
        let plan = self
        let run = loop.submit {
            NIOLoopBound(LoadRun(plan, events: events, result: promise, eventLoop: loop), eventLoop: loop)
        }
        let bound = try await run.get()
        let bootstrap = ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LoadConnection(run: bound.value))
                }
            }
        var channels: [any Channel] = []
        do {
            for _ in 0..<connections {
                channels.append(try await bootstrap.connect(host: "127.0.0.1", port: port).get())
            }
            loop.execute { bound.value.start() }
            let result = try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                promise.fail(CancellationError())
            }
            for channel in channels { channel.close(promise: nil) }
            return result
        } catch {
            promise.fail(error)
            for channel in channels { channel.close(promise: nil) }
            throw error
        }
    }
}

/// Makes what is posted.
protocol LoadSource: Sendable {
    /// How many requests were made: the number of the last one.
    var count: Int { get }
    /// Appends the next request as it is sent.
    mutating func write(to buffer: inout ByteBuffer)
}

/// What became of a load.
struct LoadResult: Sendable {
    /// How many events were answered with 202, or whatever was posted with 200.
    var accepted = 0
    /// How many of them while requests were being sent.
    var acceptedInTime = 0
    /// How many were answered with 503.
    var refused = 0
    /// How many were not sent because all connections were busy for too long.
    var unsent = 0
    /// How long requests were sent, in seconds.
    var seconds = 0.0
    /// From sending a request, or from when it was due, to its 202.
    var latency = LatencyHistogram()

    /// When the 202 of each event came, by the event's number; only where the plan asks for it.
    var acceptedAt: [Int: NIODeadline] = [:]

    /// Accepted events a second while requests were being sent.
    var rate: Double { seconds > 0 ? Double(acceptedInTime) / seconds : 0 }
}
