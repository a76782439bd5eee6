import NIOCore
import NIOEmbedded
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite struct RequestDeadlineHandlerTests {
    private let loop: EmbeddedEventLoop
    private let channel: EmbeddedChannel
    private let limit = TimeAmount.seconds(15)

    init() throws {
        loop = EmbeddedEventLoop()
        channel = EmbeddedChannel(handler: RequestDeadlineHandler(limit: limit), loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func receivePart() throws { try channel.writeInbound("part") }

    private func enter(_ mode: RequestDeadlineHandler.Mode) {
        channel.pipeline.triggerUserOutboundEvent(mode, promise: nil)
    }

    @Test func `a request that trickles in is over when its time is`() throws {
        for _ in 0..<3 {
            try receivePart()
            loop.advanceTime(by: .seconds(4))
        }
        try channel.throwIfErrorCaught()
        loop.advanceTime(by: .seconds(3))
        #expect(throws: RequestDeadlineExceeded.self) { try channel.throwIfErrorCaught() }
    }

    @Test func `an upload has its time for each part`() throws {
        try receivePart()
        enter(.sincePart)
        for _ in 0..<10 {
            try receivePart()
            loop.advanceTime(by: .seconds(14))
        }
        try channel.throwIfErrorCaught()
        loop.advanceTime(by: .seconds(1))
        #expect(throws: RequestDeadlineExceeded.self) { try channel.throwIfErrorCaught() }
    }

    @Test func `an answer in time ends it, and the next request has the whole time again`() throws {
        enter(.sincePart)
        try receivePart()
        try channel.writeOutbound("answer")
        loop.advanceTime(by: .hours(1))
        try receivePart()
        loop.advanceTime(by: .seconds(14))
        try receivePart()
        try channel.throwIfErrorCaught()
        loop.advanceTime(by: .seconds(1))
        #expect(throws: RequestDeadlineExceeded.self, "the mode was the last request's") {
            try channel.throwIfErrorCaught()
        }
    }
}
