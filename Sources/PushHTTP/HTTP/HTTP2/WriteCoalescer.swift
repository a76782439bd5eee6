import NIOCore

/// Joins what is written between two flushes into one buffer.
///
/// A request is three writes, each of which TLS would seal as a record of its own.
final class WriteCoalescer: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = ByteBuffer

    private var pending = ByteBuffer()
    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(var bytes) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        pending.writeBuffer(&bytes)
        if let promise { promises.append(promise) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // What was never flushed was never written.
        for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
        promises = []
    }

    func flush(context: ChannelHandlerContext) {
        if pending.readableBytes > 0 || !promises.isEmpty {
            context.write(wrapOutboundOut(pending), promise: joinedPromise(on: context.eventLoop))
        }
        context.flush()
        pending.clear(minimumCapacity: 0)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        flush(context: context)
        context.close(mode: mode, promise: promise)
    }

    private func joinedPromise(on eventLoop: any EventLoop) -> EventLoopPromise<Void>? {
        guard !promises.isEmpty else { return nil }
        let joined = eventLoop.makePromise(of: Void.self)
        for promise in promises { joined.futureResult.cascade(to: promise) }
        promises = []
        return joined
    }
}
