import NIOCore

/// Lets through the first bytes of each answer, head and body together, and reports the rest as an error.
///
/// Sits before the decoder, so that endless headers, informational answers and chunk extensions count as well.
final class AnswerSizeLimit: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let maximumBytes: Int
    private var bytesLeft: Int

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
        bytesLeft = maximumBytes
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // A request that goes out begins the wait for a new answer.
        bytesLeft = maximumBytes
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        let count = buffer.readableBytes
        if let allowed = buffer.readSlice(length: min(count, bytesLeft)), allowed.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(allowed))
        }
        if count > bytesLeft { context.fireErrorCaught(OutboundError.answerTooLong) }
        bytesLeft = max(0, bytesLeft - count)
    }
}
