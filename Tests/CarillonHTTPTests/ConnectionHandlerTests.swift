import CoreMetrics
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite struct ConnectionHandlerTests {
    private let loop = EmbeddedEventLoop()
    private let channel: EmbeddedChannel
    private let connections: InboundConnections

    init() throws { try self.init(from: "192.0.2.1") }

    /// A connection from an address.
    private init(from address: String) throws {
        let settings = ServerSettings()
        connections = InboundConnections(settings, port: "test", metrics: NOOPMetricsHandler.instance)
        let handler = ConnectionHandler(
            connections: connections,
            settings: settings,
            refusals: RefusalWriter(logger: .silent)
        )
        channel = EmbeddedChannel(
            handlers: [HalfOpenSocket(), HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()), handler],
            loop: loop
        )
        channel.allowRemoteHalfClosure = true
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
    }

    private func receive(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

    private func answer(_ headers: HTTPHeaders = ["content-length": "0"], flushes: Bool = true) {
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        channel.write(HTTPServerResponsePart.end(nil), promise: nil)
        if flushes { channel.flush() }
    }

    /// Everything that was sent since the last time.
    private func sent() throws -> String {
        var text = ""
        while let part = try channel.readOutbound(as: IOData.self) {
            if case .byteBuffer(let buffer) = part { text += String(buffer: buffer) }
        }
        return text.lowercased()
    }

    private let request = "GET / HTTP/1.1\r\nhost: x\r\n\r\n"

    @Test func `marks of letters in a field are bounded before anything looks at it`() throws {
        let marks = String(repeating: "\u{301}", count: 129)
        try receive("GET / HTTP/1.1\r\nhost: x\r\nexpect: x\(marks)\r\nx: \u{e9}\r\n\r\n")
        guard case .head(let head)? = try channel.readInbound(as: HTTPServerRequestPart.self) else {
            Issue.record("there is no head")
            return
        }
        let bounded = "x" + String(repeating: "\u{301}", count: 128) + "\u{34F}\u{301}"
        #expect(head.headers["expect"].map { Array($0.utf8) } == [Array(bounded.utf8)])
        #expect(head.headers["x"] == ["\u{e9}"])
    }

    // MARK: Time

    @Test func `a head has ten seconds from the beginning, however it trickles in`() throws {
        try receive("GET / HTTP/1.1\r\nhost: x\r\n")
        for _ in 0..<3 {
            loop.advanceTime(by: .seconds(3))
            try receive("x: y\r\n")
        }
        #expect(channel.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `who says nothing at all has ten seconds`() {
        loop.advanceTime(by: .milliseconds(9_999))
        #expect(channel.isActive)
        loop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
    }

    @Test func `twenty seconds may pass between an answer and the next request`() throws {
        for _ in 0..<3 {
            try receive(request)
            answer()
            loop.advanceTime(by: .milliseconds(19_999))
        }
        #expect(channel.isActive)
        loop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
    }

    @Test func `a trusted proxy ends an idle connection before it is ended here, and fetches answers in time`() throws {
        let proxy = try Self(from: "127.0.0.1")
        try proxy.receive(request)
        proxy.answer()
        proxy.loop.advanceTime(by: .milliseconds(619_999))
        #expect(proxy.channel.isActive)
        try proxy.receive(request)
        proxy.answer(flushes: false)
        proxy.loop.advanceTime(by: .seconds(20))
        #expect(!proxy.channel.isActive)
        let other = try Self(from: "127.0.0.1")
        try other.receive(request)
        other.answer()
        other.loop.advanceTime(by: .seconds(620))
        #expect(!other.channel.isActive)
        let half = "PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab"
        for isSent in [true, false] {
            // An answer that goes before the rest of the body.
            let early = try Self(from: "127.0.0.1")
            try early.receive(half)
            early.answer()
            if isSent { try early.receive("cd") }
            early.loop.advanceTime(by: .milliseconds(isSent ? 619_999 : 19_999))
            #expect(early.channel.isActive)
            early.loop.advanceTime(by: .milliseconds(1))
            #expect(!early.channel.isActive)
        }
    }

    @Test func `a service that stops answers what it owes, whole and as the last, and ends whoever is owed nothing`()
        throws
    {
        try receive(request)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(channel.isActive)
        answer(flushes: false)
        #expect(channel.isActive, "the answer is not on its way yet")
        channel.flush()
        #expect(try sent().contains("connection: close"))
        #expect(!channel.isActive)
        // One whose head went before.
        let late = try Self(from: "192.0.2.1")
        try late.receive(request)
        late.channel.write(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)), promise: nil)
        late.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        late.channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "whole"))), promise: nil)
        late.channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        #expect(try late.sent().contains("whole"))
        #expect(!late.channel.isActive)
        let idle = try Self(from: "192.0.2.1")
        try idle.receive(request)
        idle.answer()
        idle.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(!idle.channel.isActive)
        // Whoever was answered and goes on sending is not waited for.
        let half = try Self(from: "192.0.2.1")
        try half.receive("PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab")
        half.answer()
        half.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        half.loop.advanceTime(by: .seconds(2))
        #expect(!half.channel.isActive)
    }

    @Test func `what is left of a body that was answered takes nothing of the next request's time`() throws {
        try channel.pipeline.syncOperations.addHandler(RequestDeadlineHandler(limit: .seconds(15)))
        let half = "PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab"
        try receive(half)
        answer()
        loop.advanceTime(by: .seconds(1))
        try receive("cd")
        loop.advanceTime(by: .seconds(5))
        try receive(half)
        loop.advanceTime(by: .milliseconds(14_999))
        try channel.throwIfErrorCaught()
        loop.advanceTime(by: .milliseconds(1))
        #expect(throws: RequestDeadlineExceeded.self) { try channel.throwIfErrorCaught() }
    }

    @Test func `who has sent all of an upload has no more time to keep`() throws {
        try channel.pipeline.syncOperations.addHandler(RequestDeadlineHandler(limit: .seconds(15)))
        channel.triggerUserOutboundEvent(RequestDeadlineHandler.Mode.sincePart, promise: nil)
        try receive(request)
        loop.advanceTime(by: .seconds(14))
        channel.triggerUserOutboundEvent(RequestDeadlineHandler.Mode.arrived, promise: nil)
        loop.advanceTime(by: .seconds(60))
        try channel.throwIfErrorCaught()
        answer()
        // The next request has its own.
        try receive("PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab")
        loop.advanceTime(by: .seconds(15))
        #expect(throws: RequestDeadlineExceeded.self) { try channel.throwIfErrorCaught() }
    }

    @Test func `a further head has ten seconds from its first byte`() throws {
        try receive(request)
        answer()
        loop.advanceTime(by: .seconds(1))
        for byte in ["G", "E", "T"] {
            try receive(byte)
            loop.advanceTime(by: .seconds(3))
        }
        #expect(channel.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `the service may take longer than a caller`() throws {
        try receive(request)
        loop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        answer()
        #expect(try sent().hasPrefix("http/1.1 200"))
        loop.advanceTime(by: .seconds(20))
        #expect(!channel.isActive)
    }

    @Test func `an answer that is not fetched is not kept for longer than twenty seconds`() throws {
        try receive(request)
        answer(flushes: false)
        loop.advanceTime(by: .seconds(20))
        #expect(!channel.isActive)
    }

    @Test func `who goes on asking and fetches no answers has twenty seconds all the same`() throws {
        for flushes in [true, false] {
            try receive(request)
            answer(flushes: flushes)
        }
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        for _ in 0..<3 {
            loop.advanceTime(by: .seconds(5))
            try receive(request)
        }
        loop.advanceTime(by: .milliseconds(4_999))
        #expect(channel.isActive)
        loop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
    }

    @Test func `who has fetched all answers is not waited for while the service works`() throws {
        try receive(request + request)
        answer()
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        loop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
    }

    // MARK: Places

    @Test func `whoever is displaced between requests is closed at once`() throws {
        try receive(request)
        answer()
        channel.pipeline.fireUserInboundEventTriggered(ConnectionDisplaced())
        #expect(!channel.isActive)
    }

    @Test func `whoever is displaced in the middle of work gets the answer, and is told that it is the last`() throws {
        try receive(request)
        channel.pipeline.fireUserInboundEventTriggered(ConnectionDisplaced())
        #expect(channel.isActive)
        answer()
        #expect(try sent().contains("connection: close"))
        #expect(!channel.isActive)
    }

    // MARK: HTTP

    @Test func `a request of HTTP 1_1 needs one Host`() throws {
        for more in ["", "host: a\r\nhost: b\r\n"] {
            let test = try ConnectionHandlerTests()
            try test.receive("GET / HTTP/1.1\r\n\(more)x-request-id: mine\r\n\r\n")
            let answer = try test.sent()
            #expect(answer.hasPrefix("http/1.1 400 "))
            #expect(answer.contains("content-type: application/problem+json"))
            #expect(answer.contains("x-request-id: mine"))
            #expect(answer.contains("/problems/malformed-request"))
            #expect(try test.channel.readInbound(as: HTTPServerRequestPart.self) == nil)
            test.loop.advanceTime(by: .seconds(2))
            #expect(!test.channel.isActive)
        }
    }

    @Test(arguments: [
        ("transfer-encoding: gzip, chunked", "501"), ("transfer-encoding: gzip\r\ntransfer-encoding: chunked", "501"),
        ("Transfer-Encoding: identity,Chunked", "501"), ("transfer-encoding: gzip", "400"),
        ("transfer-encoding: chunked, gzip", "400"), ("transfer-encoding: chunked, chunked", "400"),
    ])
    func `a body in another transfer coding than chunked is not read`(field: String, status: String) throws {
        try receive("POST / HTTP/1.1\r\nhost: x\r\nx-request-id: mine\r\n\(field)\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
        let answer = try sent()
        #expect(answer.hasPrefix("http/1.1 \(status) "))
        #expect(answer.contains("content-type: application/problem+json"))
        #expect(answer.contains("/problems/\(status == "501" ? "not-implemented" : "malformed-request")"))
        #expect(answer.contains("connection: close"))
        #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == nil)
        loop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test func `a chunked body is read, however that is spelled`() throws {
        try receive("POST / HTTP/1.1\r\nhost: x\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
        answer()
        #expect(try sent().hasPrefix("http/1.1 200 "))
    }

    @Test func `HTTP 1_0 needs no Host, is answered in its own version, and closed`() throws {
        try receive("GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n")
        answer()
        let text = try sent()
        #expect(text.hasPrefix("http/1.0 200") && text.contains("connection: close"))
        #expect(!channel.isActive)
    }

    @Test func `whoever asks for the end gets it, however it is spelled`() throws {
        try receive("GET / HTTP/1.1\r\nhost: x\r\nConnection: Close\r\n\r\n")
        answer()
        #expect(try sent().contains("connection: close"))
        #expect(!channel.isActive)
    }

    @Test func `what cannot be read is a problem with an id`() throws {
        for text in ["\u{0}\u{1}\r\n\r\n", "GET / HTTP/9.9\r\nhost: x\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n"]
        {
            let test = try ConnectionHandlerTests()
            try? test.receive(text)
            let answer = try test.sent()
            #expect(answer.hasPrefix("http/1.1 400 "))
            #expect(answer.contains("/problems/malformed-request") && answer.contains("x-request-id: "))
        }
    }

    @Test func `what came before something that cannot be read is answered first`() throws {
        try? receive(request + "bad\r\n\r\n")
        #expect(try sent().isEmpty)
        answer()
        let text = try sent()
        #expect(text.hasPrefix("http/1.1 200"))
        #expect(text.contains("http/1.1 400 "))
        loop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test func `who waits to be told to go on is told at once`() throws {
        try receive("POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-Continue\r\ncontent-length: 2\r\n\r\n")
        #expect(try sent() == "http/1.1 100 continue\r\n\r\n")
        try receive("{}")
        answer()
        #expect(try sent().hasPrefix("http/1.1 200"))
    }

    @Test func `who is told to go on has had the answers to former requests`() throws {
        try receive(request + "POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
        #expect(try sent().isEmpty)
        answer()
        #expect(try sent().hasSuffix("\r\n\r\nhttp/1.1 100 continue\r\n\r\n"))
    }

    @Test func `a caller who is still sending after the last answer has two seconds to read it`() throws {
        try receive("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n")
        answer(["content-length": "0", "connection": "close"])
        for _ in 0..<19 {
            try receive("x")
            loop.advanceTime(by: .milliseconds(100))
        }
        #expect(channel.isActive)
        loop.advanceTime(by: .milliseconds(100))
        #expect(!channel.isActive)
    }

    @Test func `nothing is said twice about a body that breaks off after its answer`() throws {
        try receive("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        answer()
        _ = try sent()
        try? receive("no chunk\r\n")
        answer()
        #expect(try sent().isEmpty)
    }
}

/// Takes the end of what is sent for that, and not for the end of the connection.
private final class HalfOpenSocket: ChannelOutboundHandler {
    typealias OutboundIn = NIOAny

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else {
            context.close(mode: mode, promise: promise)
            return
        }
        promise?.succeed()
    }
}

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
