import NIOCore
import NIOEmbedded
import NIOHPACK
import Testing

@testable import PushHTTP

/// Frames are counted, by a clock that the tests set.
@Suite struct FrameAllowanceTests {
    private let start = NIODeadline.now()
    private let empty = FrameHead(length: 4, type: 8)

    /// How many of these frames an allowance lets through, of many.
    private func taken(_ head: FrameHead, from allowance: FrameAllowance, after: TimeAmount = .zero) -> Int {
        (0..<20_000).prefix { _ in allowance.take(head, at: start + after) }.count
    }

    @Test func `a thousand useless frames are let through, and then a hundred a second`() {
        let allowance = FrameAllowance(at: start)
        #expect(taken(empty, from: allowance) == 1_000)
        #expect(taken(empty, from: allowance, after: .milliseconds(500)) == 50)
        #expect(taken(empty, from: allowance, after: .milliseconds(1_500)) == 100)
        #expect(taken(empty, from: allowance, after: .hours(1)) == 1_000, "no more than at first")
    }

    @Test func `a mebibyte of useless bytes is let through, and then a tenth of it a second`() {
        let allowance = FrameAllowance(at: start)
        let large = FrameHead(length: 16_375, type: 0xbb)
        #expect(taken(large, from: allowance) == 64)
        #expect(taken(large, from: allowance, after: .seconds(1)) == 6)
    }

    @Test func `large parts of bodies cost bytes and no frames`() {
        let allowance = FrameAllowance(at: start)
        #expect(taken(FrameHead(length: 1_024, type: 0), from: allowance) == 1_015)
        let small = FrameAllowance(at: start)
        #expect(taken(FrameHead(length: 1, type: 0), from: small) == 1_000)
    }

    @Test func `answers cost nothing, however many there are`() {
        let allowance = FrameAllowance(at: start)
        let fields: HPACKHeaders = [":status": "200", "apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b"]
        for _ in 0..<100_000 {
            #expect(allowance.take(FrameHead(length: 55, type: 1), at: start))
            allowance.giveBack(fields)
            #expect(allowance.take(FrameHead(length: 90, type: 0), at: start))
            allowance.giveBackPart(of: 80, padding: 10)
        }
        #expect(taken(empty, from: allowance) == 1_000)
    }

    @Test func `each request is worth a few frames, and a large one more, up to a limit`() {
        let allowance = FrameAllowance(at: start)
        for _ in 0..<100 { allowance.add(bodyOf: 600) }
        #expect(taken(empty, from: allowance) == 1_400)
        allowance.add(bodyOf: 65_536)
        #expect(taken(empty, from: allowance) == 20)
        for _ in 0..<100_000 { allowance.add(bodyOf: 600) }
        #expect(taken(empty, from: allowance) == 5_000)
    }

    @Test func `what a server has sent before it is told to stop is paid for`() {
        let allowance = FrameAllowance(at: start)
        let large = FrameHead(length: 16_375, type: 0)
        #expect(taken(large, from: allowance) == 64)
        allowance.addRest()
        #expect(taken(large, from: allowance) == 8)
    }

    // MARK: The handler

    /// Frames one after the other, of nothing but zeros.
    private func bytes(_ heads: [FrameHead]) -> ByteBuffer {
        var bytes = ByteBuffer()
        for head in heads {
            bytes.writeInteger(UInt32(head.length) << 8 | UInt32(head.type))
            bytes.writeRepeatingByte(0, count: 5 + head.length)
        }
        return bytes
    }

    private final class Events: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var ends = 0

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is FrameAllowanceHandler.Exhausted { ends += 1 }
        }
    }

    /// What comes through of bytes that arrive in pieces of a size.
    private func passed(_ bytes: ByteBuffer, inPiecesOf size: Int, _ events: Events = Events()) throws -> ByteBuffer {
        let channel = EmbeddedChannel(handlers: [FrameAllowanceHandler(FrameAllowance()), events])
        var (rest, passed) = (bytes, ByteBuffer())
        while let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 {
            try channel.writeInbound(piece)
            while var part = try channel.readInbound(as: ByteBuffer.self) { passed.writeBuffer(&part) }
        }
        return passed
    }

    @Test(arguments: [1, 2, 7, 9, 10, 64, 1_000_000])
    func `what is not too much goes through as it came, in whatever pieces`(size: Int) throws {
        let heads = (0..<200).map { (number: Int) in
            FrameHead(length: number.isMultiple(of: 40) ? 300 : number % 5, type: UInt8(number % 12))
        }
        let frames = bytes(heads)
        #expect(try passed(frames, inPiecesOf: size) == frames)
    }

    @Test(arguments: [1, 64, 1_000_000])
    func `the first frame that is too many ends it, and nothing comes through any more`(size: Int) throws {
        let events = Events()
        let through = try passed(bytes(Array(repeating: empty, count: 9_000)), inPiecesOf: size, events)
        // In the time that this takes some more may have been earned.
        let count = through.readableBytes / 13
        #expect(through.readableBytes.isMultiple(of: 13) && (1_000..<2_000).contains(count))
        #expect(events.ends == 1)
    }
}
