import Logging
import NIOCore
import NIOHTTP2

/// Ends a connection on an error that is not of one stream only.
final class ConnectionErrorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("Connection reported an error", metadata: ["error": "\(error)"])
        guard !(error is NIOHTTP2Errors.StreamError) else { return }
        context.close(promise: nil)
    }
}
