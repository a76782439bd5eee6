import struct CarillonCore.Lane
import enum CarillonCore.JSONValue
import NIOCore
import NIOHTTP2
import Synchronization

/// One HTTP/2 connection, shared by concurrent requests.
final class HTTP2Connection: Sendable {
    /// Told what becomes of a connection, on its event loop.
    protocol Owner: AnyObject, Sendable {
        /// A request that the connection was asked to send has ended, in whatever way.
        func requestEnded(on connection: ID, of lane: Lane?)
        /// The number of requests that it takes at a time has changed.
        func limitChanged(of connection: ID, to limit: Int)
        /// It is ended, since too much came over it that means nothing.
        func sentAway(_ connection: ID)
        /// It takes no new requests any more, for the reason that a GOAWAY gave, if one did.
        func retired(_ connection: ID, goAway: GoAway?)
    }

    struct GoAway: Sendable, Equatable {
        var code: Int
        /// The first bytes of what the server added; Apple sends `{"reason":"…"}`.
        var details: [UInt8]

        /// The reason, if that is how it was given.
        var reason: String? { (try? JSONValue(parsing: details))?["reason"]?.text }
    }

    /// What a connection has to know from its beginning on.
    struct Settings: Sendable {
        var policy: ConnectionPolicy
        var owner: any Owner
    }

    typealias ID = ObjectIdentifier

    let id: ID
    /// How many requests it takes at a time to begin with.
    let initialLimit: Int
    let channel: any Channel
    private let handler: NIOLoopBound<HTTP2ConnectionHandler>

    init(channel: any Channel, handler: HTTP2ConnectionHandler, initialLimit: Int) {
        id = ObjectIdentifier(handler)
        self.initialLimit = initialLimit
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    /// Makes an HTTP/2 connection of a channel through TLS, on its event loop.
    ///
    /// It is `opened` as soon as the server has sent its SETTINGS, since its limits are not known before; that fails in every
    /// other case, also when the channel has ended already.
    static func configure(
        _ channel: any Channel,
        _ settings: Settings,
        settingsDeadline: NIODeadline,
        opened: EventLoopPromise<HTTP2Connection>
    ) {
        let handler = HTTP2ConnectionHandler(settings, settingsDeadline: settingsDeadline, opened: opened)
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(
                parameter: .maxHeaderListSize,
                value: min(max(16_384, settings.policy.maximumAnswerBytes), HTTP2ConnectionHandler.windowSize)
            ),
            // A stream's window is never opened again: the largest answer that is taken fits.
            HTTP2Setting(
                parameter: .initialWindowSize,
                value: max(HTTP2ConnectionHandler.windowSize, settings.policy.maximumAnswerBytes)
            ),
        ]
        // Proxies hand on fields that HTTP/2 forbids, such as Upgrade: as in browsers, they mean nothing.
        configuration.headerBlockValidation = .disabled
        // Frames that mean nothing are counted before, all alike.
        configuration.controlFrameRateLimit.maximumCount = 10_000
        configuration.maximumSequentialEmptyDataFrames = 10_000
        // What is still coming for streams that we ended is to be ignored, even if that was all of them at once.
        configuration.maximumRecentlyResetStreams = settings.policy.maximumStreams
        var streams = NIOHTTP2Handler.StreamConfiguration()
        // Resets answer our own requests, which are counted already.
        streams.streamResetFrameRateLimit.maximumCount = 100_000
        do {
            let http2 = NIOHTTP2Handler(
                mode: .client,
                frameDelegate: handler,
                connectionConfiguration: configuration,
                streamConfiguration: streams
            )
            let keepAlive = KeepAliveHandler(settings.policy)
            let frames = FrameAllowanceHandler(handler.allowance)
            try channel.pipeline.syncOperations.addHandlers(frames, WriteCoalescer(), http2, keepAlive, handler)
        } catch {
            // The handler never gets to know that the channel has ended.
            opened.fail(OutboundError.connectionClosed)
            channel.close(promise: nil)
        }
    }

    /// Sends a request and waits for its answer. When the task is cancelled before it is sent, it is not; then it is waited
    /// for, since the server may act on it.
    /// - Throws: ``NotProcessed``, ``OutboundError`` or `CancellationError`.
    func send(_ exchange: HTTP2Exchange) async throws -> OutboundResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                channel.eventLoop.execute { [handler] in handler.value.begin(exchange, continuation) }
            }
        } onCancel: {
            exchange.isAbandoned.store(true, ordering: .releasing)
        }
    }

    /// Begins no new requests, and ends the connection with the last one.
    func retire() {
        channel.eventLoop.execute { [handler] in handler.value.retire() }
    }

    /// Ends the connection, whatever is still on its way.
    func close() {
        channel.close(promise: nil)
    }
}
