import NIOCore
import NIOHPACK
import NIOHTTP2

/// Collects a request, asks the service, and does what it says.
///
/// Handles one stream of HTTP/2, or one connection of HTTP/1.1 behind ``HTTP1Translator``.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let server: any PushServer
    private let connection: Connection
    private var headers: HPACKHeaders?
    private var body = ByteBuffer()
    private var bodyLength = 0
    private var waiting: Scheduled<Void>?
    private var hasEnded = false

    init(server: any PushServer, connection: Connection) {
        self.server = server
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let payload):
            // Headers behind the body are trailers, which nobody needs.
            if headers == nil { headers = payload.headers }
            if payload.endStream { finish(context: context) }
        case .data(let payload):
            if case .byteBuffer(var bytes) = payload.data { keep(&bytes) }
            if payload.endStream { finish(context: context) }
        default:
            break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        hasEnded = true
        waiting?.cancel()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func keep(_ bytes: inout ByteBuffer) {
        bodyLength += bytes.readableBytes
        guard bodyLength <= Request.maximumBodyBytes else { return }
        if body.readableBytes == 0 { body = bytes } else { body.writeBuffer(&bytes) }
    }

    private func finish(context: ChannelHandlerContext) {
        guard let headers else { return }
        let reply = server.reply(
            to: Request(headers: headers, body: body, bodyLength: bodyLength),
            on: connection
        )
        self.headers = nil
        body = ByteBuffer()
        bodyLength = 0
        guard reply.delay > .zero else { return carryOut(reply.manner, context: context) }
        waiting = context.eventLoop.assumeIsolated().scheduleTask(in: reply.delay) {
            self.carryOut(reply.manner, context: context)
        }
    }

    private func carryOut(_ manner: Reply.Manner, context: ChannelHandlerContext) {
        guard !hasEnded else { return }
        switch manner {
        case .answer(let answer):
            write(answer, context: context)
        case .cut(let answer):
            writeHead(answer, endStream: false, context: context)
            if let body = answer.body { writeData(body, endStream: false, context: context) }
            context.flush()
            reset(.internalError, context: context)
        case .endless(let answer):
            writeHead(answer, endStream: false, context: context)
            writeForever(ByteBuffer(repeating: UInt8(ascii: " "), count: 16_384), context: context)
        case .silence:
            break
        case .reset:
            reset(.internalError, context: context)
        case .refusal:
            reset(.refusedStream, context: context)
        case .goAway:
            connection.goAway()
            reset(.refusedStream, context: context)
        case .disconnection:
            connection.disconnect()
        }
    }

    private func write(_ answer: Answer, context: ChannelHandlerContext) {
        writeHead(answer, endStream: answer.body == nil, context: context)
        if let body = answer.body { writeData(body, endStream: true, context: context) }
        context.flush()
    }

    private func writeHead(_ answer: Answer, endStream: Bool, context: ChannelHandlerContext) {
        let payload = HTTP2Frame.FramePayload.Headers(headers: answer.headers, endStream: endStream)
        context.write(wrapOutboundOut(.headers(payload)), promise: nil)
    }

    private func writeData(_ bytes: ByteBuffer, endStream: Bool, context: ChannelHandlerContext) {
        let payload = HTTP2Frame.FramePayload.Data(data: .byteBuffer(bytes), endStream: endStream)
        context.write(wrapOutboundOut(.data(payload)), promise: nil)
    }

    private func reset(_ code: HTTP2ErrorCode, context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil)
    }

    /// Writes a chunk each time the former one has left.
    private func writeForever(_ chunk: ByteBuffer, context: ChannelHandlerContext) {
        guard !hasEnded else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        let payload = HTTP2Frame.FramePayload.Data(data: .byteBuffer(chunk))
        context.writeAndFlush(wrapOutboundOut(.data(payload)), promise: written)
        written.futureResult.assumeIsolated().whenSuccess {
            context.eventLoop.assumeIsolated().execute { self.writeForever(chunk, context: context) }
        }
    }
}
