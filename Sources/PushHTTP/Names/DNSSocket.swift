import NIOCore
import NIOPosix

/// Asks a name server, each time over a socket of its own: a port that nobody can guess, with ids that nobody can guess.
///
/// Takes no thread: what waits is a descriptor and a timer.
struct DNSSocket: Sendable {
    /// Nothing came before the time was over.
    struct Silence: Error {}

    let group: any EventLoopGroup

    /// Asks all questions at once over UDP, and again over TCP what did not fit (RFC 1035 section 4.2, RFC 7766).
    /// - Returns: The answers that came in time.
    /// - Throws: ``Silence`` when there was none in time, or what connecting throws.
    func ask(
        _ questions: [DNSQuestion],
        at server: SocketAddress,
        extended: Bool,
        for time: TimeAmount
    ) async throws -> [DNSQuestion: DNSAnswer] {
        let deadline = NIODeadline.now() + time
        let handler: @Sendable ([DNSQuestion], EventLoopPromise<[DNSQuestion: DNSAnswer]>) -> DNSHandler = {
            DNSHandler($0, extended: extended, deadline: deadline, result: $1)
        }
        let overUDP = group.next().makePromise(of: [DNSQuestion: DNSAnswer].self)
        DatagramBootstrap(group: overUDP.futureResult.eventLoop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4_096))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        DatagramHandler(server),
                        handler(questions, overUDP)
                    )
                }
            }
            .connect(to: server)
            .whenFailure { overUDP.fail($0) }
        var answers = try await overUDP.futureResult.get()
        let truncated = questions.filter { answers[$0] == .truncated }
        guard !truncated.isEmpty else { return answers }
        let overTCP = group.next().makePromise(of: [DNSQuestion: DNSAnswer].self)
        ClientBootstrap(group: overTCP.futureResult.eventLoop)
            .connectTimeout(max(.milliseconds(1), deadline - .now()))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(LengthHandler(), handler(truncated, overTCP))
                }
            }
            .connect(to: server)
            .whenFailure { overTCP.fail($0) }
        answers.merge(try await overTCP.futureResult.get()) { $1 }
        return answers
    }
}

/// Sends queries as soon as it can, and waits for the answers to them; whatever else comes is passed over.
private final class DNSHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var open: [UInt16: DNSQuestion] = [:]
    private var answers: [DNSQuestion: DNSAnswer] = [:]
    private let extended: Bool
    private let deadline: NIODeadline
    private let result: EventLoopPromise<[DNSQuestion: DNSAnswer]>
    private var timer: Scheduled<Void>?

    init(
        _ questions: [DNSQuestion],
        extended: Bool,
        deadline: NIODeadline,
        result: EventLoopPromise<[DNSQuestion: DNSAnswer]>
    ) {
        for question in questions {
            var id = UInt16.random(in: 0 ... .max)
            while open[id] != nil { id &+= 1 }
            open[id] = question
        }
        self.extended = extended
        self.deadline = deadline
        self.result = result
    }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.finish(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        for (id, question) in open {
            context.write(wrapOutboundOut(question.query(id: id, extended: extended)), promise: nil)
        }
        context.flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let message = unwrapInboundIn(data)
        guard let id: UInt16 = message.getInteger(at: message.readerIndex), let question = open[id],
            let answer = DNSAnswer(message, to: question, id: id)
        else { return }
        open[id] = nil
        answers[question] = answer
        if open.isEmpty { finish(context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Such as a port where nobody listens.
        if answers.isEmpty { result.fail(error) }
        finish(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(context)
        context.fireChannelInactive()
    }

    private func finish(_ context: ChannelHandlerContext) {
        timer?.cancel()
        // Failing or succeeding again does nothing: the first counts.
        if answers.isEmpty { result.fail(DNSSocket.Silence()) } else { result.succeed(answers) }
        context.close(promise: nil)
    }
}

/// One message is one datagram, from the server that was asked and no other.
private final class DatagramHandler: ChannelDuplexHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let server: SocketAddress

    init(_ server: SocketAddress) {
        self.server = server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        guard envelope.remoteAddress == server else { return }
        context.fireChannelRead(wrapInboundOut(envelope.data))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let envelope = AddressedEnvelope(remoteAddress: server, data: unwrapOutboundIn(data))
        context.write(wrapOutboundOut(envelope), promise: promise)
    }
}

/// Messages in a stream, with their lengths before them (RFC 1035 section 4.2.2).
private final class LengthHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A message of the longest kind, and the beginning of the next one.
    private static let mostBytes = 2 * 65_536

    private var received = ByteBuffer()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        while let message = received.readLengthPrefixedSlice(as: UInt16.self) {
            context.fireChannelRead(wrapInboundOut(message))
        }
        if received.readableBytes > Self.mostBytes { context.close(promise: nil) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var message = unwrapOutboundIn(data)
        var whole = ByteBuffer()
        whole.writeInteger(UInt16(truncatingIfNeeded: message.readableBytes))
        whole.writeBuffer(&message)
        context.write(wrapOutboundOut(whole), promise: promise)
    }
}
