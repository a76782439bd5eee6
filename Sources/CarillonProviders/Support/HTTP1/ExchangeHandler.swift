import NIOCore
import NIOHTTP1
import NIOSSL

/// Sends one request at a time over a connection and collects its answer.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// An answer, and whether the connection can take another request.
    struct Answer: Sendable {
        var response: OutboundResponse
        var isConnectionReusable: Bool
    }

    private enum State {
        case idle
        case waiting(EventLoopPromise<Answer>)
        case reading(EventLoopPromise<Answer>, HTTPResponseHead, [UInt8])
        case ended(OutboundError)
    }

    private var state = State.idle

    /// Sends a request; `answer` fails with ``NotProcessed`` or ``OutboundError``.
    func send(
        _ head: HTTPRequestHead,
        body: [UInt8],
        answer: EventLoopPromise<Answer>,
        on channel: any Channel
    ) {
        switch state {
        case .idle:
            state = .waiting(answer)
        case .ended(let reason):
            return answer.fail(NotProcessed(reason: reason))
        case .waiting, .reading:
            return answer.fail(NotProcessed(reason: .connectionClosed))
        }
        let operations = channel.pipeline.syncOperations
        operations.write(NIOAny(OutboundOut.head(head)), promise: nil)
        operations.write(NIOAny(OutboundOut.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        operations.writeAndFlush(NIOAny(OutboundOut.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (state, unwrapInboundIn(data)) {
        case (.waiting(let answer), .head(let head)):
            state = .reading(answer, head, [])
        case (.reading(let answer, let head, var body), .body(let bytes)):
            body.append(contentsOf: bytes.readableBytesView)
            state = .reading(answer, head, body)
        case (.reading(let answer, let head, let body), .end):
            state = .idle
            answer.succeed(Answer(head, body, isConnectionReusable: head.isKeepAlive))
        case (.ended, _):
            break
        case (.idle, _), (.waiting, _), (.reading, .head):
            end(.malformedAnswer, context: context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.connectionClosed, context: context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Many servers end TLS without saying so; the decoder knows whether the answer was complete.
        if let error = error as? NIOSSLError, error == .uncleanShutdown { return }
        end(OutboundError(connectionError: error), context: context)
    }

    private func end(_ reason: OutboundError, context: ChannelHandlerContext) {
        switch state {
        case .idle:
            break
        case .waiting(let answer):
            answer.fail(reason)
        case .reading(let answer, let head, let body):
            if reason == .answerTooLong {
                answer.succeed(Answer(head, body, isConnectionReusable: false))
            } else {
                answer.fail(reason)
            }
        case .ended:
            return
        }
        state = .ended(reason)
        context.channel.closeUnread()
    }
}

extension ExchangeHandler.Answer {
    fileprivate init(_ head: HTTPResponseHead, _ body: [UInt8], isConnectionReusable: Bool) {
        response = OutboundResponse(status: Int(head.status.code), headers: head.headers, body: body)
        self.isConnectionReusable = isConnectionReusable
    }
}
