import NIOCore

/// Gives each request a limited time from its first part to the first part of its answer.
///
/// A body that trickles in is ended with an error, which whoever reads it turns into 408; a timer of the connection's
/// own event loop does that without a task for each request. After an answer the rest of an unread body has the same
/// time once more before the connection is closed; when it is there in time, the next request has all of its own. Heads that
/// trickle in, and callers who say nothing, are ``ConnectionHandler``'s business: no part of a request exists before its head is complete.
package final class RequestDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    /// Sent outwards through the pipeline to say how time is counted from now on, for the request in hand.
    package enum Mode: Sendable {
        /// From the request's first part: the default for every request.
        case wholeRequest
        /// From the last part that arrived: for uploads of any size.
        case sincePart
        /// Not any more: all of it has arrived, and whoever answers has a limit of their own.
        case arrived
    }

    /// Sent inwards through the pipeline behind the last part of a request whose answer has ended.
    struct RequestOver {}

    private let limit: TimeAmount
    private var timer: Scheduled<Void>?
    private var mode = Mode.wholeRequest

    init(limit: TimeAmount) {
        self.limit = limit
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch mode {
        case .wholeRequest where timer == nil, .sincePart: restart(context)
        case .wholeRequest, .arrived: break
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        stop()
        mode = .wholeRequest
        context.write(data, promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if let mode = event as? Mode {
            self.mode = mode
            if mode == .arrived { stop() }
        }
        context.triggerUserOutboundEvent(event, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is RequestOver { stop() } else { context.fireUserInboundEventTriggered(event) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    private func restart(_ context: ChannelHandlerContext) {
        stop()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { [self] in
            timer = nil
            context.fireErrorCaught(RequestDeadlineExceeded())
        }
    }

    private func stop() {
        timer?.cancel()
        timer = nil
    }
}
