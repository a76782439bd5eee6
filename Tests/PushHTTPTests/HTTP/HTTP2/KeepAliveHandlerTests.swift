import CarillonCore
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Synchronization
import Testing

@testable import PushHTTP

@Suite struct KeepAliveHandlerTests {
    /// A channel with the handler, connected, and the events that it lets through.
    private func channel(_ change: (inout ConnectionPolicy) -> Void = { _ in }) throws -> EmbeddedChannel {
        var policy = ConnectionPolicy(idleLimit: .seconds(86_400), maximumAge: nil, pingInterval: .seconds(3_600))
        change(&policy)
        let channel = EmbeddedChannel()
        channel.pipeline.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        try channel.pipeline.syncOperations.addHandlers(KeepAliveHandler(policy), Retirements())
        return channel
    }

    private final class Retirements: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        var count = 0

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is KeepAliveHandler.Retirement { count += 1 }
        }
    }

    private func isPing(_ frame: HTTP2Frame?) -> Bool {
        if case .ping(_, ack: false) = frame?.payload { true } else { false }
    }

    private let pong = HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: 0), ack: true))
    private let request = HTTP2Frame(streamID: 1, payload: .headers(.init(headers: [":method": "POST"])))

    @Test func `asks after an hour of silence, again and again`() throws {
        let channel = try channel()
        for _ in 0..<5 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(3_599))
            #expect(try channel.readOutbound(as: HTTP2Frame.self) == nil)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(isPing(try channel.readOutbound()))
            try channel.writeInbound(pong)
            #expect(channel.isActive)
        }
    }

    @Test func `closes when the answer does not come`() throws {
        let channel = try channel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(3_600 + 14))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        #expect(throws: OutboundError.timedOut) { try channel.throwIfErrorCaught() }
    }

    @Test func `does not ask while there is traffic`() throws {
        let channel = try channel()
        for _ in 0..<5 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1_800))
            try channel.writeOutbound(request)
            #expect(!isPing(try channel.readOutbound()))
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(3_600))
        #expect(isPing(try channel.readOutbound()))
    }

    @Test func `retires when nobody has used it for too long, whatever the server says`() throws {
        let channel = try channel { $0.idleLimit = .seconds(10_000) }
        let retirements = try channel.pipeline.syncOperations.handler(type: Retirements.self)
        channel.embeddedEventLoop.advanceTime(by: .seconds(3_600))
        try channel.writeInbound(pong)
        channel.embeddedEventLoop.advanceTime(by: .seconds(3_600))
        try channel.writeInbound(pong)
        channel.embeddedEventLoop.advanceTime(by: .seconds(2_799))
        #expect(retirements.count == 0)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(retirements.count == 1)
    }

    /// Begins to close and does not end, as TLS does until the other side has said goodbye.
    private final class Farewell: ChannelOutboundHandler {
        typealias OutboundIn = HTTP2Frame

        var isClosing = false

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            isClosing = true
        }
    }

    private final class Owner: HTTP2Connection.Owner {
        let retirements = Mutex(0)

        func requestEnded(on connection: HTTP2Connection.ID, of lane: Lane?) {}
        func limitChanged(of connection: HTTP2Connection.ID, to limit: Int) {}
        func sentAway(_ connection: HTTP2Connection.ID) {}
        func retired(_ connection: HTTP2Connection.ID, goAway: HTTP2Connection.GoAway?) {
            retirements.withLock { $0 += 1 }
        }
    }

    @Test func `an idle connection gets no request while the server does not say goodbye`() throws {
        let owner = Owner()
        var policy = ConnectionPolicy.lasting
        policy.idleLimit = .seconds(30)
        let channel = EmbeddedChannel()
        channel.pipeline.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        let opened = channel.eventLoop.makePromise(of: HTTP2Connection.self)
        let settings = HTTP2Connection.Settings(policy: policy, owner: owner)
        let connection = HTTP2ConnectionHandler(settings, settingsDeadline: .now() + .hours(1), opened: opened)
        let farewell = Farewell()
        try channel.pipeline.syncOperations.addHandlers(farewell, KeepAliveHandler(policy), connection)
        try channel.writeInbound(HTTP2Frame(streamID: .rootStream, payload: .settings(.settings([]))))
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(!farewell.isClosing)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(farewell.isClosing && channel.isActive)
        #expect(owner.retirements.withLock { $0 } == 1, "its owner gives it no more requests")
    }

    @Test func `retires once when it is old`() throws {
        let channel = try channel { $0.maximumAge = .seconds(300) }
        let retirements = try channel.pipeline.syncOperations.handler(type: Retirements.self)
        channel.embeddedEventLoop.advanceTime(by: .seconds(299))
        #expect(retirements.count == 0)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1_000))
        #expect(retirements.count == 1)
        #expect(channel.isActive)
    }
}
