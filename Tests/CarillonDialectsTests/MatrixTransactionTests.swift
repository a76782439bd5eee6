import CarillonCore
import CarillonDialects
import Testing

/// What one event holds is no reason to refuse a transaction: a homeserver repeats it, and sends nothing else, until it is taken.
@Suite struct MatrixTransactionTests {
    private static let hello =
        #"{"event_id":"$1","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.text","body":"Hello"}}"#

    private static func message(_ rest: String) -> String {
        #"{"event_id":"$2","room_id":"!r:x","sender":"@b:x","type":"m.room.message","content":{"msgtype":"m.text",\#(rest)}}"#
    }

    private func read(_ body: [UInt8]) throws -> DialectReading {
        try Scene(.matrix).dialect.events(of: DialectRequest(body: body), DialectSettings(), now: Scene.now)
    }

    static let unreadable: [(what: String, event: [UInt8])] =
        [
            ("more than 256 KiB", message(#""body":"\#(String(repeating: "x", count: 256 << 10))""#)),
            ("a name twice", message(#""body":"x","body":"y""#)),
            ("no escape", message(#""body":"\q""#)),
            ("no value", message(#""body":"#)),
            ("a word", "nothing"), ("two values", "{} {}"), ("a control character", message("\"body\":\"\u{1}\"")),
        ].map { ($0.0, Array($0.1.utf8)) } + [
            ("no UTF-8", Array(message(#""body":""#).utf8) + [0xFF] + Array(#""}}"#.utf8))
        ]

    @Test(arguments: unreadable)
    func `an event that cannot be read is passed over, and the others are not`(_ what: String, _ event: [UInt8]) throws
    {
        for events in [[event, Array(Self.hello.utf8)], [Array(Self.hello.utf8), event]] {
            let body = Array(#"{"txn":1,"events":["#.utf8) + events.joined(separator: [0x2C]) + Array(#"]}"#.utf8)
            let reading = try read(body)
            #expect(reading.known.compactMap(\.message?.text) == ["Hello"])
            #expect(reading.events.map(\.isUnreadable) == events.map { $0 == event })
            #expect(reading.reason?.contains("cannot be read") == true)
        }
    }

    @Test(arguments: [
        (#""body":"x","x":\#(String(repeating: "[", count: 99) + String(repeating: "]", count: 99))"#, "x"),
        (#""body":"x","x":1e400"#, "x"), (#""body":"x","x":\#(String(repeating: "9", count: 400))"#, "x"),
        (#""body":"x","x":"\u0000","\ud800":1"#, "x"), (#""body":"a\u0000b""#, ""), (#""body":"\ud83d""#, ""),
    ])
    func `what cannot be stored of an event is left out, and the rest is told`(rest: String, text: String) throws {
        let reading = try read(Array(#"{"events":[\#(Self.message(rest)),\#(Self.hello)]}"#.utf8))
        #expect(reading.known.compactMap(\.message?.text) == [text, "Hello"])
    }

    @Test func `names are cleaned`() throws {
        let join =
            #""type":"m.room.member","state_key":"@b:x","content":{"membership":"join","displayname":"B\u0000o\ud800b"}"#
        let event = #"{"event_id":"$1","room_id":"!r:x","sender":"@b:x",\#(join)}"#
        #expect(try read(Array(#"{"events":[\#(event)]}"#.utf8)).known.first?.members.first?.displayName == "Bob")
    }

    @Test func `what is in an event is not confused with what is around it`() throws {
        let text = #"]},{\"events\":[\\"#
        let body =
            #" { "ephemeral" : [ {"a":"}"} , [] ], "events" : [ \#(Self.message(#""body":"\#(text)""#)) , {} ] } "#
        let reading = try read(Array(body.utf8))
        #expect(reading.known.compactMap(\.message?.text) == [#"]},{"events":[\"#])
        #expect(reading.events.count == 2)
        #expect(reading.reasons == ["event 2: it has no usable event_id, room_id or sender"])
    }

    @Test func `more events than a homeserver ever sends are refused`() {
        let events = { count in Array(#"{"events":[\#(String(repeating: "0,", count: count - 1))0]}"#.utf8) }
        #expect(throws: Never.self) { try read(events(10_000)) }
        #expect(throws: DialectRefusal.self) { try read(events(10_001)) }
    }

    @Test func `a number beyond 2^53 is read as any other`() throws {
        let body = #"{"events":[\#(Self.message(#""body":"x","n":9223372036854775807,"m":18446744073709551616"#))]}"#
        #expect(try read(Array(body.utf8)).known.count == 1)
    }

    @Test func `what is ephemeral is not looked into`() throws {
        let body = #"{"events":[\#(Self.hello)],"ephemeral":[{"x":"\u0000","y":1e999}]}"#
        #expect(try read(Array(body.utf8)).known.count == 1)
    }

    @Test func `nothing is a transaction of no events`() throws {
        let reading = try read(Array(#"{"events":[]}"#.utf8))
        #expect(reading.events.isEmpty)
        #expect(reading.isList)
    }

    @Test(arguments: [
        "", "[]", "{", #"{"events"}"#, #"{"events":}"#, #"{"events":["#, #"{"events":[{}]"#, #"{"events":[{}],}"#,
        #"{"events":[{},]}"#,
        #"{"events":[,{}]}"#, #"{"events":[{}]} {}"#, #"{"events":[{"a":[}]}]}"#, #"{"events":[{}],"events":[{}]}"#,
        #"{"events":["a]}"#, #"{"events":7}"#, #"{"event":[]}"#, "\u{FEFF}{\"events\":[]}", #"{"events":["\"#,
        #"{"events":[\#(Array(repeating: "0", count: 10_001).joined(separator: ","))]}"#,
    ])
    func `what is no transaction is refused`(_ body: String) throws {
        #expect(throws: DialectRefusal.self) { try read(Array(body.utf8)) }
    }
}
