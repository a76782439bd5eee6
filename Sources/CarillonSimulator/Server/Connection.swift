import NIOCore
import NIOHTTP2
import NIOSSL

/// One TLS connection with a client. Lives on its event loop.
final class Connection {
    private let channel: any Channel
    private let rules: ConnectionRules
    /// Whether there are streams, and frames to speak of them.
    private let isHTTP2: Bool
    /// The app that the client's certificate is for; `nil` without a certificate.
    let certificateTopic: String?
    /// The key whose provider token was seen first, which is the only one from then on.
    var keyID: String?
    private var opened = 0
    private var open = 0
    private var lastStreamID = HTTP2StreamID.rootStream
    private var isLeaving = false
    private var allowsAllStreams: Bool

    /// A connection of HTTP/2.
    init(channel: any Channel, rules: ConnectionRules, certificateTopic: String?) {
        self.channel = channel
        self.rules = rules
        self.certificateTopic = certificateTopic
        isHTTP2 = true
        allowsAllStreams = !rules.startsWithOneStream || certificateTopic != nil
    }

    /// A connection of HTTP/1.1.
    init(http1 channel: any Channel, rules: ConnectionRules) {
        self.channel = channel
        self.rules = rules
        certificateTopic = nil
        isHTTP2 = false
        allowsAllStreams = true
    }

    /// How many streams the client may open at first.
    var initialStreams: Int { allowsAllStreams ? rules.maximumConcurrentStreams : 1 }

    /// The client has shown a valid provider token: it may use all streams from now on.
    func allowAllStreams() {
        guard !allowsAllStreams else { return }
        allowsAllStreams = true
        let settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: rules.maximumConcurrentStreams)]
        write(HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(settings))))
    }

    /// A stream has been opened.
    func opened(_ streamID: HTTP2StreamID, goAwayAfter limit: Int?) {
        opened += 1
        open += 1
        lastStreamID = max(lastStreamID, streamID)
        if let limit, opened >= limit { goAway() }
    }

    /// A stream has ended, which may be the last one of a connection that is leaving.
    func closed() {
        open -= 1
        if isLeaving, open == 0 { closeSoon() }
    }

    /// Lets the client open no more streams, and ends the connection with the last one.
    func goAway() {
        guard isHTTP2, !isLeaving else { return }
        isLeaving = true
        let reason = rules.goAwayReason.map { ByteBuffer(string: $0) }
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: lastStreamID,
            errorCode: .noError,
            opaqueData: reason
        )
        write(HTTP2Frame(streamID: .rootStream, payload: payload))
        if open == 0 { closeSoon() }
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

    /// Closes when what was written for the last stream has left.
    private func closeSoon() {
        channel.eventLoop.execute { [channel] in channel.close(promise: nil) }
    }
}
