import NIOCore
import NIOHTTP1
import Synchronization

/// A network's endpoint or receiver of webhooks on loopback: takes messages, remembers which, and answers after a while.
final class EndpointSink: Sendable {
    /// What came so far.
    struct Tally: Sendable {
        /// How many messages came, each counted once however often it was sent.
        var messages = 0
        /// How many came again.
        var repeated = 0
        /// The most that were being answered at the same moment.
        var mostAtOnce = 0
        fileprivate var atOnce = 0
        fileprivate var last = ContinuousClock.now
        fileprivate var ids: Set<String> = []
    }

    /// How long the answer takes.
    let delay: TimeAmount
    private let tally = Mutex(Tally())

    init(delay: TimeAmount = .zero) {
        self.delay = delay
    }

    /// What came so far.
    var current: Tally { tally.withLock { $0 } }

    /// How many requests came, and when the last one did.
    var arrivals: (count: Int, last: ContinuousClock.Instant) {
        tally.withLock { ($0.messages + $0.repeated, $0.last) }
    }

    /// Lends the port of the sink.
    func withPort<Value>(_ body: (_ port: Int) async throws -> Value) async throws -> Value {
        try await LoopbackServer.withPort({ SinkHandler(sink: self) }, body)
    }

    fileprivate func begin(_ id: String) {
        tally.withLock {
            if $0.ids.insert(id).inserted { $0.messages += 1 } else { $0.repeated += 1 }
            $0.last = .now
            $0.atOnce += 1
            $0.mostAtOnce = max($0.mostAtOnce, $0.atOnce)
        }
    }

    fileprivate func end() {
        tally.withLock { $0.atOnce -= 1 }
    }
}

/// Answers 204 to one request after the other.
private final class SinkHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let sink: EndpointSink

    init(sink: EndpointSink) {
        self.sink = sink
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            sink.begin(head.headers.first(name: "webhook-id") ?? "")
        case .body:
            break
        case .end:
            guard sink.delay > .zero else { return answer(context) }
            let loop = context.eventLoop.assumeIsolated()
            loop.scheduleTask(in: sink.delay) { [self] in answer(context) }
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        sink.end()
        let head = HTTPResponseHead(version: .http1_1, status: .noContent)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
