import NIOCore
import NIOHTTP1
import Synchronization

/// A server of webhooks on loopback that takes its time for each answer, and counts what came.
enum LateReceiver {
    /// How many came, and when the last one did.
    final class Book: Sendable {
        private let state = Mutex((count: 0, last: ContinuousClock.now))

        var count: Int { state.withLock(\.count) }
        var last: ContinuousClock.Instant { state.withLock(\.last) }

        fileprivate func note() { state.withLock { $0 = ($0.count + 1, .now) } }
    }

    /// Lends a receiver.
    ///
    /// - Parameters:
    ///   - delay: How long each answer takes.
    ///   - book: Where it is counted what came.
    ///   - body: The work.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, and why there is no port.
    static func withReceiver<Value>(
        taking delay: TimeAmount,
        noting book: Book,
        _ body: (_ port: Int) async throws -> Value
    ) async throws -> Value {
        try await LoopbackServer.withPort({ LateHandler(delay: delay, book: book) }, body)
    }
}

/// Answers one request after the other.
private final class LateHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let delay: TimeAmount
    private let book: LateReceiver.Book

    init(delay: TimeAmount, book: LateReceiver.Book) {
        self.delay = delay
        self.book = book
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        book.note()
        context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in
            let head = HTTPResponseHead(version: .http1_1, status: .noContent)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
