import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/2 server on the loopback, through TLS, that does frame by frame what it is told, right or wrong.
final class HTTP2Server: Sendable {
    /// What arrived.
    struct Request: Sendable {
        /// The connection it came on, counted from 0.
        var connection: Int
        var streamID: HTTP2StreamID
        var headers: HPACKHeaders
        var body: [UInt8]
        /// Whether its end came with its headers.
        var endsWithHead: Bool

        var path: String { headers.first(name: ":path") ?? "" }
    }

    /// What to do then; several are done in order.
    enum Action: Sendable {
        case answer(Int, HPACKHeaders = [:], body: String = "")
        /// Answers when ``HTTP2Server/answerHeld()`` is called.
        case hold
        case reset(HTTP2ErrorCode)
        case goAway(HTTP2StreamID, details: String? = nil)
        /// The head of an answer without its body.
        case head(HPACKHeaders)
        /// An answer with so many headers that no server of good will would send it.
        case manyHeaders(Int)
        /// The beginning of an answer, and then its body for ever.
        case endlessBody
        /// Bytes below the protocol, so often; for ever without a number.
        case flood(ByteBuffer, times: Int?)
        /// What servers send beside an answer, and then the answer.
        case sociable
        /// Reads nothing any more, so that not even PINGs are answered.
        case fallSilent
        case close

        static let ok = Action.answer(200)
    }

    private struct State {
        var requests: [Request] = []
        var channels: [any Channel] = []
        var held: [Request] = []
        var open: [Int: Int] = [:]
        var peak = 0
        var resets = 0
        var bytesSent = 0
    }

    private let state = Mutex(State())
    private let arrivals = AsyncStream.makeStream(of: Request.self)
    private let events = AsyncStream.makeStream(of: Event.self)
    private let respond: @Sendable (Request) -> [Action]

    /// What a test may wait for.
    enum Event: Sendable, Equatable {
        case ping
        case pong
        case reset
        case goneAway(HTTP2ErrorCode)
        case closed(Int)
    }

    private init(respond: @escaping @Sendable (Request) -> [Action]) { self.respond = respond }

    /// Runs `body` with the server and its port.
    /// - Parameters:
    ///   - tls: How it speaks TLS.
    ///   - maximumStreams: What its SETTINGS say.
    ///   - sendsSettings: Whether it begins as it should.
    ///   - flood: What it sends for ever instead of beginning.
    ///   - respond: What to do with each request.
    ///   - body: What to do meanwhile.
    /// - Throws: What `body` throws.
    static func answering(
        tls: TLSConfiguration,
        maximumStreams: Int = 1_000,
        sendsSettings: Bool = true,
        beginning flood: ByteBuffer? = nil,
        _ respond: @escaping @Sendable (Request) -> [Action],
        during body: (HTTP2Server, Int) async throws -> Void
    ) async throws {
        let server = HTTP2Server(respond: respond)
        var tls = tls
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    let connection = server.accept(channel)
                    if let flood { return try pipeline.addHandler(Flooder(bytes: flood)) }
                    guard sendsSettings else { return }
                    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
                    configuration.initialSettings = [
                        HTTP2Setting(parameter: .maxConcurrentStreams, value: maximumStreams)
                    ]
                    configuration.controlFrameRateLimit.maximumCount = 100_000
                    // It may answer what no server should.
                    configuration.headerBlockValidation = .disabled
                    configuration.contentLengthValidation = .disabled
                    var streams = NIOHTTP2Handler.StreamConfiguration()
                    streams.streamResetFrameRateLimit.maximumCount = 100_000
                    try pipeline.addHandler(
                        NIOHTTP2Handler(
                            mode: .server,
                            connectionConfiguration: configuration,
                            streamConfiguration: streams
                        )
                    )
                    try pipeline.addHandler(Handler(server: server, connection: connection))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(server, listener.localAddress?.port ?? 0)
        } catch {
            await server.closeConnections()
            try await listener.close()
            throw error
        }
        await server.closeConnections()
        try await listener.close()
    }

    var requests: [Request] { state.withLock { $0.requests } }
    var connectionCount: Int { state.withLock { $0.channels.count } }
    /// The most streams that were open on one connection at a time.
    var peakStreams: Int { state.withLock { $0.peak } }
    var resets: Int { state.withLock { $0.resets } }
    var bytesSent: Int { state.withLock { $0.bytesSent } }

    /// The next requests that have not been waited for.
    func nextRequests(_ count: Int) async {
        guard count > 0 else { return }
        var rest = count
        for await _ in arrivals.stream {
            rest -= 1
            if rest == 0 { return }
        }
    }

    /// Waits until something has happened.
    func wait(for event: Event) async { for await next in events.stream where next == event { return } }

    func answerHeld(_ status: Int = 200, body: String = "") {
        let (held, channels) = state.withLock { state in
            defer { state.held = [] }
            return (state.held, state.channels)
        }
        for request in held {
            write(.headers(.init(headers: [":status": "\(status)"], endStream: body.isEmpty)), request, channels)
            guard !body.isEmpty else { continue }
            write(.data(.init(data: .byteBuffer(ByteBuffer(string: body)), endStream: true)), request, channels)
        }
    }

    /// Sends SETTINGS with another limit on all connections.
    func limit(to streams: Int) {
        for channel in state.withLock({ $0.channels }) {
            let settings = HTTP2Settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: streams)])
            channel.writeAndFlush(
                HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(settings))),
                promise: nil
            )
        }
    }

    /// Sends GOAWAY on all connections.
    func goAway(_ lastStreamID: HTTP2StreamID) {
        for channel in state.withLock({ $0.channels }) {
            let payload = HTTP2Frame.FramePayload.goAway(
                lastStreamID: lastStreamID,
                errorCode: .noError,
                opaqueData: nil
            )
            channel.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload), promise: nil)
        }
    }

    /// Waits until the client has read all that it was sent on the only connection.
    func waitUntilRead() async {
        guard let channel = state.withLock({ $0.channels.first }) else { return }
        let ping = HTTP2Frame.FramePayload.ping(HTTP2PingData(withInteger: 1), ack: false)
        channel.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: ping), promise: nil)
        await wait(for: .pong)
    }

    func closeConnections() async { for channel in state.withLock({ $0.channels }) { try? await channel.close() } }

    private func write(_ payload: HTTP2Frame.FramePayload, _ request: Request, _ channels: [any Channel]) {
        channels[request.connection].writeAndFlush(
            HTTP2Frame(streamID: request.streamID, payload: payload),
            promise: nil
        )
    }

    private func accept(_ channel: any Channel) -> Int {
        state.withLock { state in
            state.channels.append(channel)
            return state.channels.count - 1
        }
    }

    fileprivate func opened(on connection: Int) {
        state.withLock { state in
            state.open[connection, default: 0] += 1
            state.peak = max(state.peak, state.open[connection] ?? 0)
        }
    }

    fileprivate func closed(on connection: Int) { state.withLock { $0.open[connection, default: 0] -= 1 } }

    fileprivate func receive(_ request: Request) -> [Action] {
        let actions = respond(request)
        state.withLock { state in
            for case .hold in actions { state.held.append(request) }
            state.requests.append(request)
        }
        arrivals.continuation.yield(request)
        return actions
    }

    fileprivate func note(_ event: Event) {
        state.withLock { state in
            switch event {
            case .reset: state.resets += 1
            case .ping, .pong, .goneAway, .closed: break
            }
        }
        events.continuation.yield(event)
    }

    fileprivate func count(_ bytes: Int) { state.withLock { $0.bytesSent += bytes } }
}

/// Sends the same for ever as soon as somebody says anything.
private final class Flooder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let bytes: ByteBuffer
    private var hasBegun = false

    init(bytes: ByteBuffer) { self.bytes = bytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasBegun { flood(context) }
        hasBegun = true
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}

    private func flood(_ context: ChannelHandlerContext) {
        var all = ByteBuffer()
        for _ in 0..<2_000 { all.writeImmutableBuffer(bytes) }
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(all), promise: written)
        written.futureResult.assumeIsolated().whenSuccess {
            context.eventLoop.assumeIsolated().execute { self.flood(context) }
        }
    }
}

private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let server: HTTP2Server
    private let connection: Int
    private var heads: [HTTP2StreamID: HPACKHeaders] = [:]
    private var bodies: [HTTP2StreamID: [UInt8]] = [:]

    init(server: HTTP2Server, connection: Int) {
        self.server = server
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let head):
            server.opened(on: connection)
            heads[frame.streamID] = head.headers
            if head.endStream { receive(frame.streamID, endsWithHead: true, context) }
        case .data(let part):
            guard case .byteBuffer(let bytes) = part.data else { return }
            bodies[frame.streamID, default: []] += bytes.readableBytesView
            if part.endStream { receive(frame.streamID, endsWithHead: false, context) }
        case .ping(_, let isAnswer):
            server.note(isAnswer ? .pong : .ping)
        case .rstStream:
            server.note(.reset)
        case .goAway(_, let code, _):
            server.note(.goneAway(code))
        default:
            break
        }
    }

    private func receive(_ streamID: HTTP2StreamID, endsWithHead: Bool, _ context: ChannelHandlerContext) {
        guard let head = heads.removeValue(forKey: streamID) else { return }
        let request = HTTP2Server.Request(
            connection: connection,
            streamID: streamID,
            headers: head,
            body: bodies.removeValue(forKey: streamID) ?? [],
            endsWithHead: endsWithHead
        )
        for action in server.receive(request) { perform(action, for: streamID, context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is StreamClosedEvent:
            server.closed(on: connection)
        case let event as NIOHTTP2WindowUpdatedEvent:
            guard event.streamID == .rootStream, let size = event.inboundWindowSize, size < 32_768 else { return }
            write(.windowUpdate(windowSizeIncrement: 65_535 - size), to: .rootStream, context)
        default:
            break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        server.note(.closed(connection))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}

    private func write(_ payload: HTTP2Frame.FramePayload, to streamID: HTTP2StreamID, _ context: ChannelHandlerContext)
    {
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: streamID, payload: payload)), promise: nil)
    }

    private func perform(_ action: HTTP2Server.Action, for streamID: HTTP2StreamID, _ context: ChannelHandlerContext) {
        switch action {
        case .answer(let status, let headers, let body):
            var head: HPACKHeaders = [":status": "\(status)"]
            head.add(contentsOf: headers)
            write(.headers(.init(headers: head, endStream: body.isEmpty)), to: streamID, context)
            guard !body.isEmpty else { return }
            write(.data(.init(data: .byteBuffer(ByteBuffer(string: body)), endStream: true)), to: streamID, context)
        case .hold:
            break
        case .reset(let code):
            write(.rstStream(code), to: streamID, context)
        case .goAway(let lastStreamID, let details):
            let data = details.map { ByteBuffer(string: $0) }
            let payload = HTTP2Frame.FramePayload.goAway(
                lastStreamID: lastStreamID,
                errorCode: .noError,
                opaqueData: data
            )
            write(payload, to: .rootStream, context)
        case .head(let headers):
            write(.headers(.init(headers: headers)), to: streamID, context)
        case .manyHeaders(let count):
            guard let bytes = try? Self.frames(ofHeaders: count, streamID),
                let below = try? context.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
            else { return }
            below.writeAndFlush(NIOAny(bytes), promise: nil)
        case .endlessBody:
            write(.headers(.init(headers: [":status": "200"])), to: streamID, context)
            pour(into: streamID, context)
        case .flood(let bytes, let times):
            guard let below = try? context.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self) else {
                return
            }
            flood(bytes, times: times, below)
        case .sociable:
            write(.windowUpdate(windowSizeIncrement: 5), to: .rootStream, context)
            write(.windowUpdate(windowSizeIncrement: 5), to: streamID, context)
            write(.ping(HTTP2PingData(withInteger: 7), ack: false), to: .rootStream, context)
            write(.headers(.init(headers: [":status": "103"])), to: streamID, context)
            perform(.ok, for: streamID, context)
        case .fallSilent:
            context.channel.setOption(.autoRead, value: false).whenComplete { _ in }
        case .close:
            context.close(promise: nil)
        }
    }

    /// A HEADERS frame and as many of CONTINUATION as it takes (RFC 9113 sections 6.2 and 6.10).
    private static func frames(ofHeaders count: Int, _ streamID: HTTP2StreamID) throws -> ByteBuffer {
        var headers: HPACKHeaders = [":status": "200"]
        for number in 0..<count { headers.add(name: "x-filler-\(number)", value: "y", indexing: .nonIndexable) }
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var block = ByteBuffer()
        try encoder.encode(headers: headers, to: &block)
        var bytes = ByteBuffer()
        var type: UInt8 = 1
        while let part = block.readSlice(length: min(16_384, block.readableBytes)), part.readableBytes > 0 {
            let isLast = block.readableBytes == 0
            bytes.writeInteger(UInt32(part.readableBytes) << 8 | UInt32(type))
            bytes.writeInteger(UInt8(isLast ? 4 : 0))
            bytes.writeInteger(UInt32(Int(streamID)))
            bytes.writeImmutableBuffer(part)
            type = 9
        }
        return bytes
    }

    /// Writes the same again and again, a few thousand at a time.
    private func flood(_ bytes: ByteBuffer, times: Int?, _ below: ChannelHandlerContext) {
        guard times ?? 1 > 0, below.channel.isActive else { return }
        let count = min(times ?? .max, 2_000)
        var all = ByteBuffer()
        for _ in 0..<count { all.writeImmutableBuffer(bytes) }
        let written = below.eventLoop.makePromise(of: Void.self)
        below.writeAndFlush(NIOAny(all), promise: written)
        // A write that ends at once would otherwise deepen the stack.
        written.futureResult.assumeIsolated().whenSuccess {
            below.eventLoop.assumeIsolated().execute { self.flood(bytes, times: times.map { $0 - count }, below) }
        }
    }

    private func pour(into streamID: HTTP2StreamID, _ context: ChannelHandlerContext) {
        let bytes = ByteBuffer(repeating: UInt8(ascii: "x"), count: 16_384)
        let written = context.eventLoop.makePromise(of: Void.self)
        let frame = HTTP2Frame(streamID: streamID, payload: .data(.init(data: .byteBuffer(bytes))))
        context.writeAndFlush(wrapOutboundOut(frame), promise: written)
        written.futureResult.assumeIsolated().whenSuccess {
            self.server.count(bytes.readableBytes)
            self.pour(into: streamID, context)
        }
    }
}
