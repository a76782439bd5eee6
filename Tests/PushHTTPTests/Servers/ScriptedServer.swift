import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// A server on the loopback that records what it is asked, and answers bytes of any kind, right or wrong.
final class ScriptedServer: Sendable {
    /// What arrived.
    struct Request: Sendable {
        /// The connection it came on, counted from 0.
        var connection: Int
        var head: HTTPRequestHead
        var body: [UInt8]
    }

    /// What to do then.
    enum Answer: Sendable {
        /// Sends this.
        case text(String)
        /// Sends this and closes the connection.
        case textThenClose(String)
        /// Sends the first, and then the second again and again until the client has had enough.
        case endless(String, String)
        /// Sends the first, and then a byte of the second every few milliseconds.
        case drip(String, UInt8)
        /// Sends this when its time has come.
        case textAfter(EventLoopFuture<Void>, String)
        /// Leaves the client waiting.
        case nothing
        /// Closes the connection without a word.
        case close

        static let ok = Answer.status("200 OK")

        static func status(_ status: String, headers: String = "") -> Answer {
            .text("HTTP/1.1 \(status)\r\n\(headers)content-length: 0\r\n\r\n")
        }
    }

    private struct State {
        var requests: [Request] = []
        var channels: [any Channel] = []
        var bytesSent = 0
    }

    private let state = Mutex(State())
    private let arrivals = AsyncStream.makeStream(of: Request.self)
    private let answer: @Sendable (Request) -> Answer

    private init(answer: @escaping @Sendable (Request) -> Answer) { self.answer = answer }

    /// Runs `body` with the server and its port.
    static func answering(
        tls: TLSConfiguration? = nil,
        host: String = "127.0.0.1",
        _ answer: @escaping @Sendable (Request) -> Answer,
        during body: (ScriptedServer, Int) async throws -> Void
    ) async throws {
        let server = ScriptedServer(answer: answer)
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
                    try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
                    try pipeline.addHandler(Handler(server: server, connection: server.accept(channel)))
                }
            }
            .bind(host: host, port: 0).get()
        do {
            try await body(server, listener.localAddress?.port ?? 0)
        } catch {
            try await listener.close()
            throw error
        }
        try await listener.close()
        await server.closeConnections()
    }

    var requests: [Request] { state.withLock { $0.requests } }
    var connectionCount: Int { state.withLock { $0.channels.count } }
    var bytesSent: Int { state.withLock { $0.bytesSent } }

    /// The next request that has not been waited for.
    func nextRequest() async -> Request? { await arrivals.stream.first { _ in true } }

    func closeConnections() async { for channel in state.withLock({ $0.channels }) { try? await channel.close() } }

    private func accept(_ channel: any Channel) -> Int {
        state.withLock { state in
            state.channels.append(channel)
            return state.channels.count - 1
        }
    }

    private func receive(_ request: Request) -> Answer {
        state.withLock { $0.requests.append(request) }
        arrivals.continuation.yield(request)
        return answer(request)
    }

    private func count(_ bytes: Int) { state.withLock { $0.bytesSent += bytes } }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = ByteBuffer

        private let server: ScriptedServer
        private let connection: Int
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(server: ScriptedServer, connection: Int) {
            self.server = server
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, [])
            case .body(let bytes): body += bytes.readableBytesView
            case .end:
                guard let head else { return }
                let request = Request(connection: connection, head: head, body: body)
                perform(server.receive(request), on: context.channel)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func perform(_ answer: Answer, on channel: any Channel) {
            let server = server
            @Sendable func send(_ text: String) -> EventLoopFuture<Void> {
                channel.writeAndFlush(ByteBuffer(string: text)).map { server.count(text.utf8.count) }
            }
            @Sendable func repeatForever(_ text: String) {
                // A write that ends at once would otherwise deepen the stack.
                send(text).whenSuccess { channel.eventLoop.execute { repeatForever(text) } }
            }
            switch answer {
            case .text(let text):
                _ = send(text)
            case .textAfter(let future, let text):
                future.whenComplete { _ in _ = send(text) }
            case .textThenClose(let text):
                send(text).whenComplete { _ in channel.close(promise: nil) }
            case .endless(let start, let text):
                let block = String(repeating: text, count: 1 + 16_384 / text.utf8.count)
                send(start).whenSuccess { repeatForever(block) }
            case .drip(let start, let byte):
                _ = send(start)
                let drop = String(UnicodeScalar(byte))
                channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(5)) { task in
                    send(drop).whenFailure { _ in task.cancel() }
                }
            case .nothing:
                break
            case .close:
                channel.close(promise: nil)
            }
        }
    }
}
