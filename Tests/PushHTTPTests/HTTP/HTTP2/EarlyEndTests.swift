import CarillonCore
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import PushHTTP

/// Channels that end before a connection has come about: whoever waits for it is told.
@Suite struct EarlyEndTests {
    private final class Owner: HTTP2Connection.Owner {
        func requestEnded(on connection: HTTP2Connection.ID, of lane: Lane?) {}
        func limitChanged(of connection: HTTP2Connection.ID, to limit: Int) {}
        func sentAway(_ connection: HTTP2Connection.ID) {}
        func retired(_ connection: HTTP2Connection.ID, goAway: HTTP2Connection.GoAway?) {}
    }

    private final class Bottom: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
    }

    private let settings = HTTP2Connection.Settings(policy: .lasting, owner: Owner())

    private func configure(_ channel: EmbeddedChannel) -> EventLoopFuture<HTTP2Connection> {
        let opened = channel.eventLoop.makePromise(of: HTTP2Connection.self)
        HTTP2Connection.configure(channel, settings, settingsDeadline: .now() + .hours(1), opened: opened)
        return opened.futureResult
    }

    /// What a future has failed with by now.
    private func error<Value: Sendable>(of future: EventLoopFuture<Value>) -> (any Error)? {
        let error = Mutex<(any Error)?>(nil)
        future.whenFailure { failure in error.withLock { $0 = failure } }
        return error.withLock { $0 }
    }

    @Test func `a channel that has ended when it is to speak HTTP/2`() throws {
        let channel = EmbeddedChannel()
        _ = try channel.finish()
        let opened = configure(channel)
        #expect(error(of: opened) as? OutboundError == .connectionClosed)
    }

    @Test func `a channel that ends before the server has sent its SETTINGS`() throws {
        let channel = EmbeddedChannel()
        channel.pipeline.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        let opened = configure(channel)
        _ = try? channel.finish()
        #expect(error(of: opened) as? OutboundError == .connectionClosed)
    }

    @Test func `a channel that ends in the middle of the handshake`() throws {
        let channel = EmbeddedChannel()
        let result = channel.eventLoop.makePromise(of: NegotiatedConnection.self)
        let origin = Origin(try OutboundURL("https://push.example/"))
        let handler = NegotiationHandler(origin: origin, deadline: .now() + .hours(1), http2: settings, result: result)
        try channel.pipeline.syncOperations.addHandler(handler)
        _ = try channel.finish()
        #expect(error(of: result.futureResult) as? OutboundError == .connectionClosed)
    }

    @Test func `what was written but not flushed`() throws {
        let channel = EmbeddedChannel(handlers: [Bottom(), WriteCoalescer()])
        let written = channel.eventLoop.makePromise(of: Void.self)
        channel.write(IOData.byteBuffer(ByteBuffer(string: "hello")), promise: written)
        // As when the other side ends the connection: nobody asks the handlers above.
        try channel.pipeline.syncOperations.context(handlerType: Bottom.self).close(promise: nil)
        channel.embeddedEventLoop.run()
        #expect(error(of: written.futureResult) as? ChannelError == .ioOnClosedChannel)
    }
}
