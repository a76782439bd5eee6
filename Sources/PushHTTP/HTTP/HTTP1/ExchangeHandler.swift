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
    /// When the whole answer has to be there.
    private var deadline = NIODeadline.distantFuture
    /// Looks whether it is; set for as long as the connection carries requests, not for each of them.
    private var timer: (moment: NIODeadline, task: Scheduled<Void>)?

    /// Sends a request; `answer` fails with ``NotProcessed`` or ``OutboundError``, at the deadline at the latest.
    func send(
        _ head: HTTPRequestHead,
        body: [UInt8],
        until deadline: NIODeadline,
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
        self.deadline = deadline
        watch(until: deadline, on: channel)
        let operations = channel.pipeline.syncOperations
        operations.write(NIOAny(OutboundOut.head(head)), promise: nil)
        operations.write(NIOAny(OutboundOut.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        operations.writeAndFlush(NIOAny(OutboundOut.end(nil)), promise: nil)
    }

    /// Looks at the deadline by then; a timer that goes off before is left alone, and set anew when it does.
    private func watch(until moment: NIODeadline, on channel: any Channel) {
        if let timer, timer.moment <= moment { return }
        timer?.task.cancel()
        let task = channel.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { self.look(on: channel) }
        timer = (moment, task)
    }

    private func look(on channel: any Channel) {
        timer = nil
        switch state {
        case .idle, .ended: break
        case .waiting, .reading:
            if deadline <= .now() { end(.timedOut, on: channel) } else { watch(until: deadline, on: channel) }
        }
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
            let isReusable = head.isKeepAlive && head.status != .switchingProtocols
            answer.succeed(Answer(head, body, isConnectionReusable: isReusable))
        case (.ended, _):
            break
        case (.idle, _), (.waiting, _), (.reading, .head):
            end(.malformedAnswer, on: context.channel)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.task.cancel()
        timer = nil
        end(.connectionClosed, on: context.channel)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Many servers end TLS without saying so; the decoder knows whether the answer was complete.
        if let error = error as? NIOSSLError, error == .uncleanShutdown { return }
        end(OutboundError(connectionError: error), on: context.channel)
    }

    private func end(_ reason: OutboundError, on channel: any Channel) {
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
        channel.closeUnread()
    }
}

extension ExchangeHandler.Answer {
    fileprivate init(_ head: HTTPResponseHead, _ body: [UInt8], isConnectionReusable: Bool) {
        response = OutboundResponse(status: Int(head.status.code), headers: head.headers, body: body)
        self.isConnectionReusable = isConnectionReusable
    }
}
