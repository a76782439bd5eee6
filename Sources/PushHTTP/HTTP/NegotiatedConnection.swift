import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A connection in the version of HTTP that the server chose.
enum NegotiatedConnection: Sendable {
    case http1(HTTPConnection)
    case http2(HTTP2Connection)
}

/// The names of HTTP's versions in TLS (RFC 7301).
enum ApplicationProtocol {
    static let http1 = "http/1.1"
    static let http2 = "h2"
}

/// Waits for the end of the TLS handshake and gives the channel the handlers of the version that was agreed on.
final class NegotiationHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let origin: Origin
    private let deadline: NIODeadline
    private let http2: HTTP2Connection.Settings
    private let result: EventLoopPromise<NegotiatedConnection>
    private var isOver = false
    private var timer: Scheduled<Void>?

    init(
        origin: Origin,
        deadline: NIODeadline,
        http2: HTTP2Connection.Settings,
        result: EventLoopPromise<NegotiatedConnection>
    ) {
        self.origin = origin
        self.deadline = deadline
        self.http2 = http2
        self.result = result
    }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.fail(.timedOut, context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish { result.fail(OutboundError.connectionClosed) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted(let negotiatedProtocol) = event {
            finish { configure(context.channel, for: negotiatedProtocol) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.connectionClosed, context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isOver {
            context.fireErrorCaught(error)
        } else {
            fail(OutboundError(connectionError: error), context)
        }
    }

    private func configure(_ channel: any Channel, for negotiatedProtocol: String?) {
        if negotiatedProtocol == ApplicationProtocol.http2 {
            let opened = channel.eventLoop.makePromise(of: HTTP2Connection.self)
            opened.futureResult.map { .http2($0) }.cascade(to: result)
            return HTTP2Connection.configure(channel, http2, settingsDeadline: deadline, opened: opened)
        }
        do {
            let limit = http2.policy.maximumAnswerBytes
            result.succeed(.http1(try HTTPConnection.configure(channel, for: origin, maximumAnswerBytes: limit)))
        } catch {
            result.fail(OutboundError.connectionClosed)
            channel.close(promise: nil)
        }
    }

    private func fail(_ error: OutboundError, _ context: ChannelHandlerContext) {
        finish {
            result.fail(error)
            context.close(promise: nil)
        }
    }

    private func finish(_ action: () -> Void) {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        action()
    }
}
