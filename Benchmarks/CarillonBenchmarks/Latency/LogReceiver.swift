import NIOCore
import NIOPosix

/// Reads the `log` provider's lines from a pipe and notes when they arrive.
enum LogReceiver {
    /// Lends the pipe, and tells of each line that begins with `prefix`; whoever uses its writing end has to close that.
    static func withReceiver<Value>(
        of arrivals: Arrivals,
        beginning prefix: [UInt8] = [],
        _ body: (OutputPipe) async throws -> Value
    ) async throws -> Value {
        let pipe = try OutputPipe()
        let reader = try await NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LogLineHandler(arrivals: arrivals, prefix: prefix))
                }
            }
            .takingOwnershipOfDescriptor(input: pipe.readEnd)
            .get()
        defer { reader.close(promise: nil) }
        return try await body(pipe)
    }
}

/// Cuts what is read into lines.
private final class LogLineHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let arrivals: Arrivals
    private let prefix: [UInt8]
    private var received = ByteBuffer()

    init(arrivals: Arrivals, prefix: [UInt8]) {
        self.arrivals = arrivals
        self.prefix = prefix
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let at = NIODeadline.now()
        received.writeImmutableBuffer(unwrapInboundIn(data))
        while let end = received.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            let length = end - received.readerIndex
            guard let line = received.readSlice(length: length) else { return }
            received.moveReaderIndex(forwardBy: 1)
            guard line.readableBytesView.starts(with: prefix) else { continue }
            arrivals.continuation.yield(Arrival(at: at, bytes: line))
        }
        received.discardReadBytes()
    }
}
