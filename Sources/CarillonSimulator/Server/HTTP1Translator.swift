import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// Lets a connection of HTTP/1.1 look like streams of HTTP/2, one after the other.
///
/// What HTTP/1.1 cannot say, a reset, ends the connection.
final class HTTP1Translator: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            var headers: HPACKHeaders = [":method": head.method.rawValue, ":path": head.uri, ":scheme": "https"]
            for (name, value) in head.headers { headers.add(name: name.lowercased(), value: value) }
            context.fireChannelRead(wrapInboundOut(.headers(.init(headers: headers))))
        case .body(let bytes):
            context.fireChannelRead(wrapInboundOut(.data(.init(data: .byteBuffer(bytes)))))
        case .end:
            let payload = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer()), endStream: true)
            context.fireChannelRead(wrapInboundOut(.data(payload)))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .headers(let payload):
            let status = payload.headers.first(name: ":status").flatMap { Int($0) } ?? 500
            var headers = HTTPHeaders()
            for (name, value, _) in payload.headers where !name.hasPrefix(":") { headers.add(name: name, value: value) }
            if payload.endStream, status != 204, !headers.contains(name: "content-length") {
                headers.add(name: "content-length", value: "0")
            }
            let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: payload.endStream ? nil : promise)
            if payload.endStream { context.write(wrapOutboundOut(.end(nil)), promise: promise) }
        case .data(let payload):
            context.write(wrapOutboundOut(.body(payload.data)), promise: payload.endStream ? nil : promise)
            if payload.endStream { context.write(wrapOutboundOut(.end(nil)), promise: promise) }
        default:
            context.close(promise: promise)
        }
    }
}
