import NIOCore

/// One keep-alive connection of a load: a request, its answer, the next request.
final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let run: LoadRun
    private var context: ChannelHandlerContext?
    private var reader = AnswerReader()
    private var inFlight: (dueAt: NIODeadline, number: Int)?

    init(run: LoadRun) {
        self.run = run
    }

    /// Sends the next event.
    func send(_ events: inout any LoadSource, dueAt: NIODeadline) {
        guard let context else { return run.fail(HTTPFailure.closed) }
        var buffer = context.channel.allocator.buffer(capacity: 1536)
        events.write(to: &buffer)
        inFlight = (dueAt, events.count)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        run.opened(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        reader.append(unwrapInboundIn(data))
        do throws(HTTPFailure) {
            while let answer = try reader.next() {
                guard let (dueAt, number) = inFlight.take() else { throw .malformedAnswer }
                run.answered(answer, toEvent: number, sentAt: dueAt, on: self)
            }
        } catch {
            run.fail(error)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        run.fail(HTTPFailure.closed)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        run.fail(error)
        context.close(promise: nil)
    }
}
