import NIOCore

/// Counts the frames that a server sends before anything is done with them, and lets none through that are too many.
///
/// Only the heads of frames are looked at; whoever takes answers gives back what they were charged
/// (``FrameAllowance``). What is read at a time goes on in one piece unless it would use up what is left.
final class FrameAllowanceHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The server has sent too much that means nothing: nothing more of what it sends is read.
    struct Exhausted {}

    private let allowance: FrameAllowance
    /// The beginning of a frame's head.
    private var beginning = ByteBuffer()
    private var payloadLeft = 0
    private var isExhausted = false

    init(_ allowance: FrameAllowance) {
        self.allowance = allowance
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isExhausted else { return }
        var bytes = unwrapInboundIn(data)
        if beginning.readableBytes > 0 {
            beginning.writeBuffer(&bytes)
            (bytes, beginning) = (beginning, ByteBuffer())
        }
        let now = NIODeadline.now()
        var counted = 0
        while true {
            let payload = min(payloadLeft, bytes.readableBytes - counted)
            counted += payload
            payloadLeft -= payload
            guard payloadLeft == 0, let head = FrameHead(bytes, at: counted) else { break }
            if !allowance.take(head, at: now) {
                // Those before it may have been answers.
                pass(counted, of: &bytes, context)
                counted = 0
                guard allowance.take(head, at: now) else {
                    isExhausted = true
                    return context.fireUserInboundEventTriggered(Exhausted())
                }
            }
            counted += FrameHead.size
            payloadLeft = head.length
        }
        pass(counted, of: &bytes, context)
        beginning = bytes
    }

    private func pass(_ count: Int, of bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
        guard count > 0, let part = bytes.readSlice(length: count) else { return }
        context.fireChannelRead(wrapInboundOut(part))
    }
}
