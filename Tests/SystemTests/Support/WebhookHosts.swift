import CarillonCore
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

/// Receivers of webhooks on every address of this machine and one port; how they answer is in the path.
///
/// `/prompt` answers 204 and notes what came; `/second` answers 503 to the first attempt of each delivery, and 204 to the
/// second, which it notes; anything else takes the connection and never answers.
final class WebhookHosts: Sendable {
    private struct State {
        var arrivals: [String: ContinuousClock.Instant] = [:]
        var tried: Set<String> = []
        /// Requests of `/second`, and the deliveries of which a second one came.
        var requests = 0
        var triedAgain: Set<String> = []
    }

    private let state = Mutex(State())

    /// Listens while `body` runs, which gets the port.
    static func whileListening(_ body: (WebhookHosts, _ port: Int) async throws -> Void) async throws {
        let hosts = WebhookHosts()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(HostHandler(hosts))
                }
            }
            .bind(host: "0.0.0.0", port: 0)
            .get()
        do {
            try await body(hosts, try #require(server.localAddress?.port))
            try await server.close()
        } catch {
            try? await server.close()
            throw error
        }
    }

    /// When an event's notification came; `nil` while it has not.
    func arrival(of event: String) -> ContinuousClock.Instant? { state.withLock { $0.arrivals[event] } }

    /// How many deliveries came to `/second` for the first time, and how many again; and how many requests.
    var tries: (first: Int, second: Int, all: Int) {
        state.withLock { ($0.tried.count, $0.triedAgain.count, $0.requests) }
    }

    /// The status to answer with; `nil` for no answer.
    fileprivate func status(for head: HTTPRequestHead, body: ByteBuffer) -> HTTPResponseStatus? {
        let id = head.headers.first(name: "webhook-id") ?? ""
        switch head.uri {
        case "/prompt": break
        case "/second":
            let isFirst = state.withLock { state in
                state.requests += 1
                if state.tried.insert(id).inserted { return true }
                state.triedAgain.insert(id)
                return false
            }
            if isFirst { return .serviceUnavailable }
        default: return nil
        }
        let json = (try? JSONValue(parsing: Array(body.readableBytesView))) ?? .null
        if let event = json["data"]?["eventId"]?.text {
            state.withLock { $0.arrivals[event] = $0.arrivals[event] ?? .now }
        }
        return .noContent
    }
}

/// Answers one request after the other, or not at all.
private final class HostHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let hosts: WebhookHosts
    private var head: HTTPRequestHead?
    private var received = ByteBuffer()

    init(_ hosts: WebhookHosts) { self.hosts = hosts }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            received.clear()
        case .body(let part):
            received.writeImmutableBuffer(part)
        case .end:
            guard let head, let status = hosts.status(for: head, body: received) else { return }
            var answer = HTTPResponseHead(version: .http1_1, status: status)
            if status != .noContent { answer.headers.add(name: "content-length", value: "0") }
            context.write(wrapOutboundOut(.head(answer)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
