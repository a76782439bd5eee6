import CarillonCore
import Testing

@Suite struct EventParserBatchTests {
    let parser = EventParser(clock: WallClock { Timestamp(milliseconds: 1_795_168_800_000) })

    @Test func `gives each element its own bytes, as they were posted`() throws {
        let first = #"{ "id" : "a", "type":"user.deleted","data":{"user":{"id":"é"}} }"#
        let second = #"{"type":"x.y","id":"b"}"#
        let parsed = try batch("\n [ \(first) ,\(second), \(first)]\n")
        #expect(parsed.map { String(decoding: $0.body, as: UTF8.self) } == [first, second, first])
        #expect(parsed.map(\.sourceID) == ["a", "b", "a"], "a second event of the same id is found out later")
        #expect(parsed[1].content == .ignored(type: "x.y"))
    }

    @Test func `takes a thousand events and not one more`() throws {
        let element = #"{"id":"a","type":"x.y"}"#
        func text(_ count: Int) -> String { "[" + Array(repeating: element, count: count).joined(separator: ",") + "]" }
        #expect(try batch(text(1000)).count == 1000)
        #expect(try refusal(of: text(1001)).errors.map(\.pointer) == [""])
        #expect(try refusal(of: "[]").errors.map(\.pointer) == [""])
    }

    @Test func `one bad element spoils them all, and is named`() throws {
        let error = try refusal(
            of: #"""
                [{"id":"a","type":"x.y"}, 7, {"id":"b","type":"member.left","data":{"members":["me"]}},
                 {"id":"c","type":"channel.deleted","data":{"channel":{"id":""}}}]
                """#
        )
        #expect(error.problem == "invalid-event")
        #expect(
            error.errors.map(\.pointer) == ["/1", "/2/data/channel", "/2/data/members/0", "/3/data/channel/id"]
        )
    }

    @Test(arguments: [#"[{"type":"x.y"}]"#, #"[{"id":"a","type":"x.y"},{"id":null,"type":"x.y"}]"#])
    func `does not share the header's id among elements`(text: String) throws {
        let error = try refusal(of: text)
        #expect(error.errors.map(\.detail) == ["is required"])
        #expect(error.errors.allSatisfy { $0.pointer.hasSuffix("/id") })
    }

    @Test func `counts the array itself among the 64 levels`() throws {
        func element(_ levels: Int) -> String {
            let data = String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1)
            return #"{"id":"a","type":"x.y","data":\#(data)}"#
        }
        #expect(try batch("[\(element(63))]").count == 1)
        #expect(try refusal(of: "[\(element(64))]").problem == "invalid-json")
        #expect(throws: Never.self) { try parser.parse(body: Array(element(64).utf8), fallbackSourceID: nil) }
    }

    private func batch(_ text: String) throws -> [ParsedEvent] {
        guard case .batch(let events) = try parser.parse(body: Array(text.utf8), fallbackSourceID: "header") else {
            throw InvalidInput(problem: "not-an-array", errors: [])
        }
        return events
    }

    private func refusal(of text: String) throws -> InvalidInput {
        try #require(throws: InvalidInput.self) { try batch(text) }
    }
}
