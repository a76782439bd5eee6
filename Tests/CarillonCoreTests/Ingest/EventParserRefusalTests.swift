import CarillonCore
import Testing

/// Bodies that are answered with 400: what is wrong is named with its place, and nothing of it is repeated.
@Suite struct EventParserRefusalTests {
    let parser = EventParser(clock: WallClock { Timestamp(milliseconds: 1_795_168_800_000) })

    @Test(arguments: [
        ("", "line 1, column 1"),
        ("{", "line 1, column 2"),
        ("{\"id\":\"e\",\n \"type\": }", "line 2, column 10"),
        ("[{\"id\":\"a\"},\n{\"id\":\"b\",\"id\":\"c\"}]", "line 2, column 11"),
        (#"{"id":"e","type":"user.deleted","data":{"user":{"id":"a\u0000"}}}"#, "line 1, column 56"),
        (#"{"id":"e","type":"unknown.type","data":"\ud800"}"#, "line 1, column 41"),
        (#"{"id":"e","type":"unknown.type","data":1e400}"#, "line 1, column 40"),
    ])
    func `refuses what is no JSON, with line and column`(text: String, place: String) throws {
        let error = try refusal(of: text)
        #expect(error.problem == "invalid-json")
        #expect(error.errors.count == 1)
        #expect(error.errors.allSatisfy { $0.detail.hasPrefix(place + ": ") })
    }

    @Test(arguments: ["null", "true", "1", "\"event\"", " 1.5 "])
    func `refuses a body that is neither an event nor an array`(text: String) throws {
        let error = try refusal(of: text)
        #expect(error.problem == "invalid-event")
        #expect(error.errors.map(\.pointer) == [""])
    }

    @Test(
        arguments: [
            ("{}", ["/id", "/type"]),
            (#"{"id":1,"type":1}"#, ["/id", "/type"]),
            (#"{"id":"","type":""}"#, ["/id", "/type"]),
            (#"{"id":"a\tb","type":"x.y"}"#, ["/id"]),
            (#"{"id":"a\u0085b","type":"x.y"}"#, ["/id"]),
            (#"{"id":"e","type":"user.deleted"}"#, ["/data"]),
            (#"{"id":"e","type":"user.deleted","data":[]}"#, ["/data"]),
            (#"{"id":"e","type":"user.deleted","data":null}"#, ["/data"]),
            (#"{"id":"e","type":"user.deleted","timestamp":17,"data":{"user":{"id":"a"}}}"#, ["/timestamp"]),
            (#"{"id":"e","type":"user.deleted","timestamp":"today","data":{"user":{"id":"a"}}}"#, ["/timestamp"]),
            (
                #"{"id":"e","type":"user.deleted","timestamp":"2026-02-29T00:00:00Z","data":{}}"#,
                ["/timestamp", "/data/user"]
            ),
        ] as [(String, [String])]
    )
    func `refuses a broken envelope`(text: String, pointers: [String]) throws {
        let error = try refusal(of: text)
        #expect(error.problem == "invalid-event")
        #expect(error.errors.map(\.pointer) == pointers)
    }

    @Test(
        arguments: [
            ("channel.created", "{}", ["/channel"]),
            ("channel.updated", #"{"user":{"id":"a"}}"#, ["/channel"]),
            ("channel.deleted", #"{"channel":"c"}"#, ["/channel"]),
            ("channel.created", #"{"channel":{}}"#, ["/channel/id"]),
            ("channel.created", #"{"channel":{"id":"c"},"user":{"id":"me"}}"#, ["/user/id"]),
            ("channel.created", #"{"channel":{"id":"c"},"user":"alice"}"#, ["/user"]),
            ("channel.updated", #"{"channel":{"id":"c","direct":1}}"#, ["/channel/direct"]),
            ("channel.created", #"{"channel":{"id":"c"},"visibleTo":"a","notify":"no"}"#, ["/visibleTo", "/notify"]),
            (
                "member.joined", #"{"channel":{"id":"c"},"members":["a"],"visibleTo":["me",7]}"#,
                ["/visibleTo/0", "/visibleTo/1"]
            ),
            (
                "message.sent",
                #"{"channel":{"id":"c"},"user":{"id":"a"},"message":{},"members":[7],"mentionsAll":"all","notify":0}"#,
                ["/members/0", "/mentionsAll", "/notify"]
            ),
            ("member.joined", #"{"members":["a"]}"#, ["/channel"]),
            ("member.joined", #"{"channel":{"id":"c"}}"#, ["/members"]),
            ("member.left", #"{"channel":{"id":"c"},"members":[]}"#, ["/members"]),
            ("member.left", #"{"channel":{"id":"c"},"members":"a"}"#, ["/members"]),
            (
                "member.joined", #"{"channel":{"id":"c"},"members":["a",{"id":"me"},"me",{},7,"",null]}"#,
                ["/members/1/id", "/members/2", "/members/3/id", "/members/4", "/members/5", "/members/6"]
            ),
            ("message.sent", "{}", ["/channel", "/user", "/message"]),
            ("message.sent", message(user: #"{"id":"me"}"#), ["/user/id"]),
            ("message.sent", message(user: #"{"id":"a","displayName":7}"#), ["/user/displayName"]),
            ("message.sent", message(user: #"{"id":"a","roles":"admin"}"#), ["/user/roles"]),
            ("message.sent", message(user: #"{"id":"a","roles":["x",1]}"#), ["/user/roles/1"]),
            ("message.sent", message(message: "\"Hello\""), ["/message"]),
            ("message.sent", message(message: #"{"text":7}"#), ["/message/text"]),
            ("message.sent", message(message: #"{"type":7}"#), ["/message/type"]),
            ("message.sent", message(message: #"{"id":7}"#), ["/message/id"]),
            ("message.sent", message(mentions: "\"bob\""), ["/mentions"]),
            ("message.sent", message(mentions: #"["bob",{"id":"carol"},"me"]"#), ["/mentions/1", "/mentions/2"]),
            ("user.updated", #"{"channel":{"id":"c"}}"#, ["/user"]),
            ("user.deleted", #"{"user":{"displayName":"A"}}"#, ["/user/id"]),
        ] as [(String, String, [String])]
    )
    func `refuses data that its type cannot do without or that is wrong`(
        type: String,
        data: String,
        pointers: [String]
    ) throws {
        let error = try refusal(of: #"{"id":"e","type":"\#(type)","data":\#(data)}"#)
        #expect(error.problem == "invalid-event")
        #expect(error.errors.map(\.pointer) == pointers.map { "/data" + $0 })
    }

    @Test(arguments: [
        (String(repeating: "x", count: 256), true), (String(repeating: "x", count: 257), false),
        (".", false), ("..", false), ("...", true),
    ])
    func `limits the id of a person`(id: String, isAccepted: Bool) {
        let body = #"{"id":"e","type":"user.updated","data":{"user":{"id":"\#(id)"}}}"#
        #expect(((try? parse(body)) != nil) == isAccepted)
    }

    @Test func `a description that goes too far is cut or passed over, and the event is taken`() throws {
        let name = String(repeating: "x", count: 995) + "é👩‍👩‍👧"
        let roles = ["\"" + String(repeating: "r", count: 257) + "\""] + (0..<101).map { "\"r\($0)\"" }
        let user = #"{"id":"a","displayName":"\#(name)","locale":"en US","roles":[\#(roles.joined(separator: ","))]}"#
        let body = #"{"id":"e","type":"user.updated","data":{"user":\#(user),"channel":{"id":"c"}}}"#
        let person = try #require(try person(in: body))
        #expect(person.displayName == String(repeating: "x", count: 995) + "é")
        #expect(person.locale == nil)
        #expect(person.roles == (0..<100).map { "r\($0)" })
    }

    @Test(arguments: ["7", "[]", "{}", "true", "\"\""])
    func `a locale that is none is passed over`(locale: String) throws {
        let body = #"{"id":"e","type":"user.updated","data":{"user":{"id":"a","displayName":"A","locale":\#(locale)}}}"#
        #expect(try person(in: body) == Person(id: UserID(trusted: "a"), displayName: "A"))
    }

    @Test(arguments: [
        ("en", true), ("th-TH", true), ("zh-Hant-TW", true), ("de-CH-1996", true), ("en_US", true), ("EN", true),
        ("", false), ("-", false), ("en-", false), ("-en", false), ("en--US", false), ("en US", false),
        ("1en", false), ("é", false), ("en-\u{661}", false), ("../../en", false), ("englishes", false),
        ("a-" + Array(repeating: "bcdefghi", count: 4).joined(separator: "-"), false),
    ])
    func `takes for a locale what looks like a language tag`(locale: String, isTag: Bool) throws {
        let body = #"{"id":"e","type":"user.updated","data":{"user":{"id":"a","locale":"\#(locale)"}}}"#
        #expect(try (person(in: body)?.locale != nil) == isTag)
    }

    @Test func `limits how many people one event may name`() throws {
        func ids(_ count: Int) -> String { "[" + (0..<count).map { "\"\($0)\"" }.joined(separator: ",") + "]" }
        #expect(throws: Never.self) { try parse(envelope("message.sent", Self.message(mentions: ids(10_000)))) }
        let mentions = try refusal(of: envelope("message.sent", Self.message(mentions: ids(10_001))))
        #expect(mentions.errors.map(\.pointer) == ["/data/mentions"])
        let members = try refusal(of: envelope("member.left", #"{"channel":{"id":"c"},"members":\#(ids(10_001))}"#))
        #expect(members.errors.map(\.pointer) == ["/data/members"])
    }

    @Test func `names at most twenty errors and none of the sender's values`() throws {
        let members = Array(repeating: "\"secret\\n\"", count: 10_000).joined(separator: ",")
        let error = try refusal(of: envelope("member.left", #"{"channel":{"id":"c"},"members":[\#(members)]}"#))
        #expect(error.errors.count == 20)
        #expect(error.errors.last?.pointer == "/data/members/19")
        #expect(error.errors.allSatisfy { !$0.detail.contains("secret") })
    }

    private static func message(
        user: String = #"{"id":"a"}"#,
        message: String = "{}",
        mentions: String = "[]"
    ) -> String {
        #"{"channel":{"id":"c"},"user":\#(user),"message":\#(message),"mentions":\#(mentions)}"#
    }

    private func envelope(_ type: String, _ data: String) -> String { #"{"id":"e","type":"\#(type)","data":\#(data)}"# }

    private func parse(_ text: String) throws -> ParsedBody {
        try parser.parse(body: Array(text.utf8), fallbackSourceID: nil)
    }

    /// The user of an event.
    private func person(in text: String) throws -> Person? {
        guard case .single(let parsed) = try parse(text), case .known(let event) = parsed.content else { return nil }
        return event.actor
    }

    private func refusal(of text: String) throws -> InvalidInput {
        try #require(throws: InvalidInput.self) { try parse(text) }
    }
}

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
        #expect(error.errors.map(\.pointer) == ["/1", "/2/data/channel", "/2/data/members/0", "/3/data/channel/id"])
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
