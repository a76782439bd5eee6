import CarillonCore
import NIOCore
import Testing

@testable import PushHTTP

@Suite struct DNSMessageTests {
    private let question = DNSQuestion(name: "hook.example", type: .a)

    private var query: FakeNameServer.Query {
        FakeNameServer.Query(name: "hook.example", type: 1, id: 7, isExtended: true, overTCP: false, port: 0)
    }

    @Test func `asks as the RFCs say`() {
        let plain: [UInt8] =
            [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4] + Array("hook".utf8) + [7] + Array("example".utf8)
            + [0, 0, 1, 0, 1]
        #expect(Array(question.query(id: 7, extended: false).readableBytesView) == plain)
        var extended = plain + [0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, 0]
        extended[11] = 1
        #expect(Array(question.query(id: 7, extended: true).readableBytesView) == extended)
    }

    @Test func `reads addresses, also at the end of a chain of other names`() {
        let direct = query.answer([.v4(1), .v4(2)])
        #expect(DNSAnswer(direct, to: question, id: 7) == .addresses([.v4(1), .v4(2)]))
        var chain = query.head(answers: 4)
        chain.writeAlias(of: "HOOK.example", to: "a.cdn.example")
        chain.writeAlias(of: "a.cdn.example", to: "b.cdn.example")
        chain.writeRecord(of: "other.example", .v4(9))
        chain.writeRecord(of: "b.CDN.example", .v4(3))
        #expect(DNSAnswer(chain, to: question, id: 7) == .addresses([.v4(3)]))
    }

    @Test func `takes no address of a name that was not asked for`() {
        #expect(DNSAnswer(query.answer([.v4(1)], of: "evil.example"), to: question, id: 7) == .addresses([]))
    }

    @Test func `comes to the end of a circle of names`() {
        var circle = query.head(answers: 2)
        circle.writeAlias(of: "hook.example", to: "b.example")
        circle.writeAlias(of: "b.example", to: "hook.example")
        #expect(DNSAnswer(circle, to: question, id: 7) == .addresses([]))
    }

    @Test(arguments: [
        (UInt16(0x8183), DNSAnswer.nameNotFound), (0x8182, .failed), (0x8185, .failed), (0x8181, .notUnderstood),
        (0x8184, .notUnderstood), (0x8380, .truncated),
    ])
    func `knows what else a server can say`(flags: UInt16, expected: DNSAnswer) {
        #expect(DNSAnswer(query.head(flags: flags), to: question, id: 7) == expected)
    }

    @Test func `passes over what is no answer to its question`() {
        let answer = query.answer([.v4(1)])
        #expect(DNSAnswer(answer, to: question, id: 8) == nil)
        #expect(DNSAnswer(answer, to: DNSQuestion(name: "hook.example", type: .aaaa), id: 7) == nil)
        #expect(DNSAnswer(answer, to: DNSQuestion(name: "book.example", type: .a), id: 7) == nil)
        #expect(DNSAnswer(query.head(flags: 0x0100), to: question, id: 7) == nil, "a query")
        #expect(DNSAnswer(query.head(flags: 0xA980), to: question, id: 7) == nil, "another operation")
    }

    @Test func `takes no message that was cut off, at whatever byte, for a whole one`() {
        var chain = query.head(answers: 2)
        chain.writeAlias(of: "hook.example", to: "b.example")
        chain.writeRecord(of: "b.example", .v4(3))
        for length in 0..<chain.readableBytes {
            let part = chain.getSlice(at: chain.readerIndex, length: length) ?? ByteBuffer()
            #expect(DNSAnswer(part, to: question, id: 7) == nil)
        }
    }

    @Test func `reads compressed names, and none that leads to itself or ahead`() {
        var compressed = query.head(answers: 1)
        compressed.writeMultipleIntegers(UInt16(0xC00C), UInt16(1), UInt16(1), UInt32(60), UInt16(4), UInt32(5))
        #expect(DNSAnswer(compressed, to: question, id: 7) == .addresses([.v4(5)]))
        let place = UInt16(query.head().readableBytes)
        for target in [place, place + 1, place + 2, 0x3FFF] {
            var circle = query.head(answers: 1)
            circle.writeMultipleIntegers(0xC000 | target, UInt16(1), UInt16(1), UInt32(60), UInt16(4), UInt32(5))
            #expect(DNSAnswer(circle, to: question, id: 7) == nil)
        }
    }

    @Test func `survives random bytes`() {
        for seed in 0..<2_000 {
            var message = query.head(answers: UInt16(seed % 7))
            for _ in 0..<(seed % 90) { message.writeInteger(UInt8.random(in: 0 ... .max)) }
            _ = DNSAnswer(message, to: question, id: 7)
        }
    }

    @Test func `puts the answers about both versions together`() {
        #expect(DNSAnswer(combining: [.addresses([.v4(1)]), .failed]) == .addresses([.v4(1)]))
        #expect(DNSAnswer(combining: [.addresses([]), .nameNotFound]) == .nameNotFound)
        #expect(DNSAnswer(combining: [.nameNotFound, .failed]) == .failed)
        #expect(DNSAnswer(combining: [.addresses([]), .addresses([])]) == .addresses([]))
    }
}
