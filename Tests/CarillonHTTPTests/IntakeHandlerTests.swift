import CarillonCore
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import CarillonEdge

@Suite struct IntakeHandlerTests {
    private let channel: EmbeddedChannel
    private let intake = HeldIntake()
    private let failures = FailedRequests()
    private let events = EventRecorder()

    init() throws {
        channel = EmbeddedChannel(handlers: [IntakeHandler([ClosedIntake(), intake], failures: failures), events])
        channel.allowRemoteHalfClosure = true
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func arrive(_ parts: HTTPServerRequestPart..., isComplete: Bool = true) {
        for part in parts { channel.pipeline.fireChannelRead(part) }
        if isComplete { channel.pipeline.fireChannelReadComplete() }
    }

    private struct Away: Error {}
    private let failure: FailedRequests.Failure = (Away(), NetworkID(trusted: "acme"), .now)

    private func head(_ uri: String) -> HTTPServerRequestPart {
        .head(HTTPRequestHead(version: .http1_1, method: .POST, uri: uri))
    }

    /// What was handed on since the last time, in words.
    private func handedOn() throws -> [String] {
        var words: [String] = []
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            switch part {
            case .head(let head): words.append(head.uri)
            case .body(let body): words.append(String(buffer: body))
            case .end: words.append("end")
            }
        }
        return words
    }

    private func sent() throws -> [String] {
        var words: [String] = []
        while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            switch part {
            case .head(let head): words.append("\(head.status.code)")
            case .body(.byteBuffer(let body)): words.append(String(buffer: body))
            case .body, .end: break
            }
        }
        return words
    }

    private func answerBehind() {
        channel.write(
            HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)),
            promise: nil
        )
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
    }

    @Test func `a request that is whole at once is taken, and answered`() throws {
        arrive(head("/take"), .body(ByteBuffer(string: "a")), .body(ByteBuffer(string: "b")), .end(nil))
        #expect(intake.bodies == ["ab"])
        #expect(try handedOn().isEmpty)
        intake.answer("1")
        #expect(try sent() == ["202", "1"])
    }

    @Test func `a request whose rest is not there is handed on, and never taken`() throws {
        arrive(head("/take"), .body(ByteBuffer(string: "a")))
        #expect(try handedOn() == ["/take", "a"])
        arrive(.body(ByteBuffer(string: "b")), .end(nil))
        #expect(try handedOn() == ["b", "end"])
        #expect(intake.bodies.isEmpty)
    }

    @Test func `what is not taken is handed on as it came`() throws {
        arrive(head("/other"), .body(ByteBuffer(string: "a")), .end(nil))
        #expect(try handedOn() == ["/other", "a", "end"])
        answerBehind()
        intake.isOpen = false
        arrive(head("/take"), .end(nil))
        #expect(try handedOn() == ["/take", "end"])
    }

    @Test func `nothing is taken while those behind owe an answer`() throws {
        arrive(head("/other"), .end(nil))
        arrive(head("/take"), .end(nil))
        #expect(try handedOn() == ["/other", "end", "/take", "end"])
        answerBehind()
        answerBehind()
        arrive(head("/take"), .end(nil))
        #expect(intake.bodies.count == 1)
    }

    @Test func `what comes behind a request that was taken waits, in its order`() throws {
        arrive(head("/take"), .end(nil), head("/take"), .body(ByteBuffer(string: "2")), .end(nil), head("/other"))
        #expect(intake.bodies == [""])
        intake.answer("1")
        #expect(intake.bodies == ["", "2"])
        #expect(try handedOn().isEmpty)
        intake.answer("2")
        #expect(try sent() == ["202", "1", "202", "2"])
        #expect(try handedOn() == ["/other"])
        arrive(.end(nil))
        #expect(try handedOn() == ["end"])
    }

    @Test func `no more is read than once while something waits`() throws {
        let reads = ReadCounter()
        try channel.pipeline.syncOperations.addHandler(reads, position: .first)
        arrive(head("/take"), .end(nil), head("/take"))
        channel.pipeline.read()
        #expect(reads.count == 0)
        intake.answer("1")
        #expect(reads.count == 1)
        channel.pipeline.read()
        #expect(reads.count == 2)
    }

    @Test func `a request that failed goes the way of all others, and fails there for the same reason`() throws {
        arrive(head("/take"), .body(ByteBuffer(string: "a")), .end(nil), head("/take"), .end(nil))
        intake.reply(.handOn(failure: failure))
        // What comes behind it keeps its place.
        #expect(try handedOn() == ["/take", "a", "end", "/take", "end"])
        #expect(failures.take(channel)?.error is Away)
        #expect(failures.take(channel) == nil)
    }

    @Test func `a reason that nobody asked for is forgotten with the request`() throws {
        for isAnswered in [true, false] {
            arrive(head("/take"), .end(nil))
            intake.reply(.handOn(failure: failure))
            if isAnswered { answerBehind() } else { channel.pipeline.fireChannelInactive() }
            #expect(failures.take(channel) == nil)
        }
    }

    @Test func `what would close the connection waits for the answer`() throws {
        arrive(head("/take"), .end(nil), isComplete: false)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        channel.pipeline.fireChannelReadComplete()
        #expect(events.count == 0)
        intake.answer("1")
        #expect(try sent() == ["202", "1"])
        #expect(events.count == 1)
    }

    @Test func `what cannot be read fails behind what came before it`() throws {
        arrive(head("/take"), .end(nil), head("/other"), isComplete: false)
        channel.pipeline.fireErrorCaught(HTTPParserError.invalidChunkSize)
        #expect(events.errors == 0)
        intake.answer("1")
        #expect(try sent() == ["202", "1"])
        #expect(try handedOn() == ["/other"])
        #expect(events.errors == 1)
    }

    @Test func `nothing is taken from who fetches no answers`() throws {
        channel.isWritable = false
        arrive(head("/take"), .end(nil))
        #expect(try handedOn() == ["/take", "end"])
        #expect(intake.bodies.isEmpty)
    }

    @Test func `what the first that may take it does not take is handed on`() throws {
        arrive(head("/closed"), .end(nil))
        #expect(try handedOn() == ["/closed", "end"])
    }

    @Test func `a connection that ends takes nothing along`() throws {
        arrive(head("/take"), .end(nil))
        channel.pipeline.fireChannelInactive()
        intake.answer("1")
        #expect(try sent().isEmpty)
    }

    @Test(arguments: [true, false])
    func `what a request was counted for is given back only to who is still there`(isThere: Bool) throws {
        var isGivenBack = false
        arrive(head("/take"), .end(nil))
        if !isThere { channel.pipeline.fireChannelInactive() }
        intake.reply(.handOn(failure: nil, givingBack: { isGivenBack = true }))
        #expect(isGivenBack == isThere)
        #expect(try handedOn() == (isThere ? ["/take", "end"] : []))
    }
}

/// Takes what is posted to `/take`, and answers when it is told to.
private final class HeldIntake: RequestIntake {
    var isOpen = true
    private(set) var bodies: [String] = []
    private var replies: [(IntakeReply) -> Void] = []

    func mayTake(_ head: HTTPRequestHead) -> Bool { head.uri == "/take" }

    func take(_ request: ArrivedRequest, reply: @escaping (IntakeReply) -> Void) -> Bool {
        guard isOpen else { return false }
        bodies.append(String(buffer: request.body))
        replies.append(reply)
        return true
    }

    func reply(_ reply: IntakeReply) { replies.removeFirst()(reply) }

    func answer(_ text: String) {
        reply(.answer(HTTPResponseHead(version: .http1_1, status: .accepted), ByteBuffer(string: text)))
    }
}

/// Takes nothing, whatever comes.
private final class ClosedIntake: RequestIntake {
    func mayTake(_ head: HTTPRequestHead) -> Bool { head.uri == "/closed" }

    func take(_ request: ArrivedRequest, reply: @escaping (IntakeReply) -> Void) -> Bool { false }
}

private final class EventRecorder: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private(set) var count = 0
    private(set) var errors = 0

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { count += 1 }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { errors += 1 }
}

private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = HTTPServerResponsePart

    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}
