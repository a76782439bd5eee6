import CarillonCore
import NIOCore
import NIOPosix

/// A client for everything but load: one connection, which is opened again when it is gone.
actor HTTPClient {
    private let port: Int
    private let headers: [(name: String, value: String)]
    private let group: any EventLoopGroup
    private var channel: (any NIOCore.Channel)?

    /// A client of a port of this machine, which shows the credential `bearer` with all requests.
    init(port: Int, bearer: String? = nil, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton) {
        self.port = port
        self.group = group
        headers = bearer.map { [("authorization", "Bearer \($0)")] } ?? []
    }

    /// Sends a request, and answers what is answered within `limit`, whatever its status.
    /// - Throws: ``HTTPFailure``, or why there is no connection.
    func send(_ request: HTTPRequest, limit: TimeAmount = .seconds(30)) async throws -> HTTPAnswer {
        let channel = try await connection()
        var request = request
        request.headers += headers
        var bytes = channel.allocator.buffer(capacity: request.body.count + 512)
        request.write(to: &bytes)
        let answer = channel.eventLoop.makePromise(of: HTTPAnswer.self)
        let timeout = channel.eventLoop.scheduleTask(in: limit) { answer.fail(HTTPFailure.timedOut) }
        defer { timeout.cancel() }
        channel.writeAndFlush(Exchange(request: bytes, answer: answer), promise: nil)
        do {
            return try await withTaskCancellationHandler {
                try await answer.futureResult.get()
            } onCancel: {
                answer.fail(CancellationError())
            }
        } catch {
            self.channel = nil
            channel.close(promise: nil)
            throw error
        }
    }

    /// Closes the connection.
    func close() {
        channel?.close(promise: nil)
        channel = nil
    }

    /// Posts JSON, for 201.
    func create(_ path: String, _ body: JSONValue) async throws -> JSONValue {
        try await send(.json("POST", path, body.serialized)).expecting(201).json
    }

    private func connection() async throws -> any NIOCore.Channel {
        if let channel, channel.isActive { return channel }
        let channel = try await ClientBootstrap(group: group)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ExchangeHandler())
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .get()
        self.channel = channel
        return channel
    }
}

/// A request and whom its answer is for.
private struct Exchange {
    let request: ByteBuffer
    let answer: EventLoopPromise<HTTPAnswer>
}

/// Writes requests, and hands their answers out in the same order.
private final class ExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Exchange
    typealias OutboundOut = ByteBuffer

    private var waiting = CircularBuffer<EventLoopPromise<HTTPAnswer>>()
    private var reader = AnswerReader()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let exchange = unwrapOutboundIn(data)
        guard context.channel.isActive else { return exchange.answer.fail(HTTPFailure.closed) }
        waiting.append(exchange.answer)
        context.write(wrapOutboundOut(exchange.request), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        reader.append(unwrapInboundIn(data))
        do throws(HTTPFailure) {
            while let answer = try reader.next() { waiting.popFirst()?.succeed(answer) }
        } catch {
            fail(error)
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closed)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(.closed)
        context.close(promise: nil)
    }

    private func fail(_ failure: HTTPFailure) {
        while let answer = waiting.popFirst() { answer.fail(failure) }
    }
}
