import Logging
import NIOCore
import NIOHTTP2
import NIOSSL

/// One TLS connection with a client. Lives on its event loop.
final class Connection {
    /// How long a client may take to close a connection that it has been sent away from.
    private static let patience = TimeAmount.seconds(5)

    private let channel: any Channel
    private let rules: ConnectionRules
    private let isHTTP2: Bool
    /// The app that the client's certificate is for; `nil` without a certificate.
    let certificateTopic: String?
    /// The key whose provider token was seen first, which is the only one from then on.
    var keyID: String?
    private var opened = 0
    private var open = 0
    private var lastStreamID = HTTP2StreamID.rootStream
    /// The last stream that is served; `nil` for as long as new ones are.
    private var lastServed: HTTP2StreamID?
    private var allowsAllStreams: Bool

    init(channel: any Channel, rules: ConnectionRules, isHTTP2: Bool, certificateTopic: String? = nil) {
        self.channel = channel
        self.rules = rules
        self.isHTTP2 = isHTTP2
        self.certificateTopic = certificateTopic
        allowsAllStreams = !isHTTP2 || !rules.startsWithOneStream || certificateTopic != nil
    }

    var initialStreams: Int { allowsAllStreams ? rules.maximumConcurrentStreams : 1 }

    /// The client has shown a valid provider token: it may use all streams from now on.
    func allowAllStreams() {
        guard !allowsAllStreams else { return }
        allowsAllStreams = true
        let settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: rules.maximumConcurrentStreams)]
        write(HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(settings))))
    }

    /// Whether a stream is served: not what the client opened before it saw GOAWAY, which it may send again elsewhere.
    func serves(_ streamID: HTTP2StreamID) -> Bool {
        lastServed.map { streamID <= $0 } ?? true
    }

    func opened(_ streamID: HTTP2StreamID, goAwayAfter limit: Int?) {
        opened += 1
        open += 1
        lastStreamID = max(lastStreamID, streamID)
        if let limit, opened >= limit { goAway() }
    }

    /// A stream has ended, which may be the last one of a connection that is leaving.
    func closed() {
        open -= 1
        if lastServed != nil, open == 0 { closeInTime() }
    }

    /// Lets the client open no more streams, and ends the connection after the last one.
    ///
    /// The frame goes around NIO's own handler, which would take the next frame of a stream that it has never heard of for an
    /// error, and end the connection with all that is still being served (RFC 9113 section 6.8).
    func goAway() {
        guard isHTTP2, lastServed == nil else { return }
        lastServed = lastStreamID
        let frame = ByteBuffer(goAway: lastStreamID, details: rules.goAwayReason ?? "")
        try? channel.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
            .writeAndFlush(NIOAny(frame), promise: nil)
        if open == 0 { closeInTime() }
    }

    /// Ends the connection without a word, of TLS either.
    func disconnect() {
        if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
            tls.close(mode: .all, promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    private func write(_ frame: HTTP2Frame) {
        channel.pipeline.syncOperations.writeAndFlush(NIOAny(frame), promise: nil)
    }

    /// Leaves it to the client to close, for a while: closing before it has read everything could cost it answers.
    private func closeInTime() {
        let timer = channel.eventLoop.scheduleTask(in: Self.patience) { [channel] in channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in timer.cancel() }
    }
}

extension ByteBuffer {
    /// A GOAWAY frame without an error (RFC 9113 section 6.8).
    fileprivate init(goAway lastStreamID: HTTP2StreamID, details: String) {
        self.init()
        writeInteger(UInt32(8 + details.utf8.count) << 8 | 7)
        writeInteger(UInt8(0))
        writeInteger(UInt32(0))
        writeInteger(UInt32(Int(lastStreamID)))
        writeInteger(UInt32(0))
        writeString(details)
    }
}

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
