import NIOCore
import NIOHTTP1
import Synchronization

/// Webhook receivers on every address of this machine and one port; how they answer is in the path.
///
/// `/prompt` answers 204 and notes what came; `/second` answers 503 to the first attempt of each delivery, and 204 to the
/// second, which it notes; `/whoami` says whose tokens are that begin with `user-`; anything else takes the connection and never
/// answers, and so does `/whoami` to other tokens.
enum WebhookHosts {
    /// Lends the port of the receivers; what came to `/prompt` and, in the end, to `/second` is noted.
    static func withHosts<Value>(
        noting arrivals: ArrivalLog,
        _ body: (_ port: Int) async throws -> Value
    ) async throws -> Value {
        let attempts = FirstAttempts()
        return try await LoopbackServer.withPort(
            host: "0.0.0.0",
            group: Innocent.eventLoops,
            { HostHandler(arrivals: arrivals, attempts: attempts) },
            body
        )
    }
}

/// Which deliveries were tried once.
private final class FirstAttempts: Sendable {
    private let ids = Mutex<Set<String>>([])

    /// Whether this delivery has not been tried before.
    func isFirst(_ id: String) -> Bool { ids.withLock { $0.insert(id).inserted } }
}

/// Answers one request after the other, or not at all.
private final class HostHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let arrivals: ArrivalLog
    private let attempts: FirstAttempts
    private var head: HTTPRequestHead?
    private var received = ByteBuffer()

    init(arrivals: ArrivalLog, attempts: FirstAttempts) {
        self.arrivals = arrivals
        self.attempts = attempts
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            received.clear()
        case .body(let part):
            received.writeImmutableBuffer(part)
        case .end:
            guard let head else { return }
            if head.uri == "/whoami" { return introduce(head, context) }
            guard let status = status(for: head) else { return }
            if status == .noContent { arrivals.note(Arrival(at: .now(), bytes: received)) }
            var answer = HTTPResponseHead(version: .http1_1, status: status)
            if status != .noContent { answer.headers.add(name: "content-length", value: "0") }
            context.write(wrapOutboundOut(.head(answer)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    private func introduce(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let token = head.headers.first(name: "authorization")?.dropFirst("Bearer ".count) ?? ""
        guard token.hasPrefix("user-") else { return }
        let body = ByteBuffer(string: #"{"id":"\#(token)"}"#)
        let headers: HTTPHeaders = ["content-type": "application/json", "content-length": "\(body.readableBytes)"]
        let answer = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(wrapOutboundOut(.head(answer)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// `nil` for no answer.
    private func status(for head: HTTPRequestHead) -> HTTPResponseStatus? {
        switch head.uri {
        case "/prompt": .noContent
        case "/second":
            attempts.isFirst(head.headers.first(name: "webhook-id") ?? "") ? .serviceUnavailable : .noContent
        default: nil
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
