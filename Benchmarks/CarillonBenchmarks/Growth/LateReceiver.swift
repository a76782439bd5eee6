import NIOCore
import NIOHTTP1
import Synchronization

/// A server of webhooks on loopback that takes its time for each answer, and counts what came.
enum LateReceiver {
    /// How many came, and when the last one did.
    final class Arrivals: Sendable {
        private let state = Mutex((count: 0, last: ContinuousClock.now))

        var count: Int { state.withLock(\.count) }
        var last: ContinuousClock.Instant { state.withLock(\.last) }

        fileprivate func note() { state.withLock { $0 = ($0.count + 1, .now) } }
    }

    /// Lends a receiver.
    ///
    /// - Parameters:
    ///   - delay: How long each answer takes.
    ///   - arrivals: Where it is counted what came.
    ///   - body: The work.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, and why there is no port.
    static func withReceiver<Value>(
        taking delay: TimeAmount,
        noting arrivals: Arrivals,
        _ body: (_ port: Int) async throws -> Value
    ) async throws -> Value {
        try await LoopbackServer.withPort({ LateHandler(delay: delay, arrivals: arrivals) }, body)
    }
}

/// Answers one request after the other.
private final class LateHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let delay: TimeAmount
    private let arrivals: LateReceiver.Arrivals

    init(delay: TimeAmount, arrivals: LateReceiver.Arrivals) {
        self.delay = delay
        self.arrivals = arrivals
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        arrivals.note()
        context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in
            let head = HTTPResponseHead(version: .http1_1, status: .noContent)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
