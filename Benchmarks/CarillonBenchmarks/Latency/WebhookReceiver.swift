import NIOCore
import NIOHTTP1

/// A server on loopback that takes webhooks, notes when they arrive, and answers 204.
enum WebhookReceiver {
    /// Lends the port of a receiver that tells `arrivals` of each request.
    static func withReceiver<Value>(
        of arrivals: Arrivals,
        _ body: (_ port: Int) async throws -> Value
    ) async throws -> Value {
        try await LoopbackServer.withPort({ WebhookHandler(arrivals: arrivals) }, body)
    }
}

/// Answers one request after the other.
private final class WebhookHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let arrivals: Arrivals
    private var received = ByteBuffer()

    init(arrivals: Arrivals) {
        self.arrivals = arrivals
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            received.clear()
        case .body(let part):
            received.writeImmutableBuffer(part)
        case .end:
            arrivals.continuation.yield(Arrival(at: .now(), bytes: received))
            let head = HTTPResponseHead(version: .http1_1, status: .noContent)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
