import CarillonCore
import CarillonDialects
import Testing

/// CloudEvents in their three modes (DIALECTS section 7).
@Suite struct CloudEventTests {
    private static let data = #"{"channel":{"id":"c"},"user":{"id":"bob"},"message":{"id":"m","text":"hi"},"extra":1}"#
    private static let structured =
        #"{"specversion":"1.0","id":"1","source":"/s","type":"com.example.chat.message.sent","time":"2025-11-20T10:00:00Z","data":\#(data)}"#
    private static let twilio =
        #"{"specversion":"1.0","id":"2","source":"AC1","type":"com.twilio.conversations.conversation.added","data":{"ConversationSid":"CH1"}}"#
    private static let binary: [(name: String, value: String)] = [
        ("CE-SpecVersion", "1.0"), ("ce-id", "1"), ("ce-source", "/s"),
        ("ce-type", "\"com.example.chat.message.sent\""),
        ("ce-time", "2025-11-20T10%3A00:00Z"), ("ce-subject", "g%C3%A9n%C3%A9ral%20100%25"),
    ]

    private func read(
        _ body: String,
        _ type: String? = "application/cloudevents+json",
        _ headers: [(name: String, value: String)] = []
    ) throws -> DialectReading {
        var headers = headers
        if let type { headers.append((name: "content-type", value: type)) }
        return try Scene(.cloudevents).read(body, headers: headers)
    }

    @Test(arguments: ["%C0%A0", "%ED%A0%80", "%00", "a%FF"])
    func `whatever header is no UTF-8 is refused, also one that means nothing here`(value: String) {
        for name in ["ce-subject", "ce-id", "ce-anything"] {
            let headers = Self.binary.filter { $0.name != name } + [(name: name, value: value)]
            #expect(throws: DialectRefusal.self, "\(name)") { try read(Self.data, nil, headers) }
        }
    }

    @Test func `one event in three modes is the same event`() throws {
        let readings = [
            try read(Self.structured),
            try read(Self.structured, "Application/CloudEvents+JSON; charset=utf-8"),
            try read(Self.structured, "application/json"),
            try read("[\(Self.structured)]", "application/cloudevents-batch+json; charset=UTF-8"),
            try read("[\(Self.structured)]", "application/json"),
            try read(Self.data, "application/json", Self.binary),
            try read(Self.data, nil, Self.binary),
            try read(Self.data, nil, Self.binary + [("ce-datacontenttype", "%C0%A0"), ("ce-datacontenttype", "x")]),
            try read(
                Self.structured.replacing(#""data":\#(Self.data)"#, with: #""data_base64":"\#(base64(Self.data))""#)
            ),
        ]
        for reading in readings { #expect(reading.events == readings[0].events) }
        #expect(readings.map(\.isList) == [false, false, false, true, true, false, false, false, false])
        let expected = try JSONValue(
            parsing:
                #"{"id":"ce-\#(hexSHA256("2:/s1"))","type":"message.sent","timestamp":"2025-11-20T10:00:00.000Z","data":\#(Self.data)}"#
        )
        #expect(readings[0].canonical == [expected])
        #expect(readings[0].events.first?.shownID == "1")
    }

    @Test func `of which trace an event is stands in its own extension, in three modes`() throws {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        func structured(_ members: String) -> String {
            Self.structured.replacing(#""id":"1""#, with: #""id":"1",\#(members)"#)
        }
        let readings = [
            try read(structured(#""traceparent":"\#(trace)""#)),
            try read(structured(#""extensions":{"traceparent":"\#(trace)"}"#)),
            try read(structured(#""traceparent":"00-0","extensions":{"traceparent":"\#(trace)"}"#)),
            try read("[\(structured(#""traceparent":"\#(trace)""#))]", "application/cloudevents-batch+json"),
            try read(Self.data, nil, Self.binary + [(name: "ce-traceparent", value: trace)]),
        ]
        for reading in readings { #expect(reading.known.map(\.trace?.header) == [trace]) }
        #expect(
            readings[0].canonical == (try read(Self.structured)).canonical,
            "it is no part of what is stored as the event"
        )
        let twilio = Self.twilio.replacing(#""id":"2""#, with: #""id":"2","traceparent":"\#(trace)""#)
        #expect(try read(twilio).known.map(\.trace?.header) == [trace])
    }

    @Test(arguments: [#""00-0""#, "1", "null", "[]", #"{"traceparent":"x"}"#])
    func `an extension that names no trace is as good as none`(value: String) throws {
        for name in ["traceparent", "extensions"] {
            let body = Self.structured.replacing(#""id":"1""#, with: #""id":"1","\#(name)":\#(value)"#)
            #expect(try read(body) == read(Self.structured))
        }
        let headers = Self.binary + [(name: "ce-traceparent", value: "00-0")]
        #expect(try read(Self.data, nil, headers) == read(Self.structured))
    }

    @Test func `the same id of two sources is two events`() throws {
        let other = Self.structured.replacing(#""source":"/s""#, with: #""source":"/s1""#)
        let third = other.replacing(#""id":"1""#, with: #""id":"""#)
        #expect(try read(Self.structured).known.first?.sourceID != read(other).known.first?.sourceID)
        #expect(throws: DialectRefusal.self) { try read(third) }
    }

    @Test func `what nobody is notified of is ignored, whatever its data`() throws {
        for type in ["com.example.order.placed", "message.sentinel", "notification.direct", "xmessage.sent"] {
            let body = Self.structured.replacing("com.example.chat.message.sent", with: type)
                .replacing(Self.data, with: "7")
            #expect(try read(body).known.isEmpty)
        }
        #expect(try read("[]", "application/cloudevents-batch+json") == read("[]", "application/json"))
        #expect(try read("[]", "application/json").isList)
    }

    struct Mistake: Sendable {
        var find: String
        var replace: String
        var pointer: String
    }

    @Test(arguments: [
        Mistake(find: #""specversion":"1.0""#, replace: #""specversion":"0.3""#, pointer: "/specversion"),
        Mistake(find: #""specversion":"1.0","#, replace: "", pointer: "/specversion"),
        Mistake(find: #""id":"1","source""#, replace: #""id":null,"source""#, pointer: "/id"),
        Mistake(find: #""source":"/s""#, replace: #""source":"""#, pointer: "/source"),
        Mistake(find: #""type":"com.example.chat.message.sent","#, replace: "", pointer: "/type"),
        Mistake(find: "2025-11-20T10:00:00Z", replace: "yesterday", pointer: "/time"),
        Mistake(find: #""data":{"#, replace: #""data_base64":"e30=","data":{"#, pointer: "/data_base64"),
        Mistake(find: #""data":{"#, replace: #""data":"{}","x":{"#, pointer: "/data"),
        Mistake(find: #""data":{"#, replace: #""x":{"#, pointer: "/data"),
        Mistake(find: #"{"id":"c"}"#, replace: "{}", pointer: "/data/channel/id"),
    ])
    func `a mistake is told with its place, in a batch with that of the event`(_ mistake: Mistake) throws {
        let body = Self.structured.replacing(mistake.find, with: mistake.replace)
        #expect(body != Self.structured)
        #expect(pointers { try read(body) } == [mistake.pointer])
        #expect(pointers { try read("[\(Self.structured),\(body)]", "application/json") } == ["/1\(mistake.pointer)"])
        let batch = try read("[\(body),\(Self.twilio)]", "application/json")
        #expect(batch.known.count == 1 && batch.events.map(\.isUnreadable) == [true, false])
        #expect(batch.reason?.hasPrefix("event 1: \(mistake.pointer) ") == true)
    }

    @Test(arguments: [
        "application/cloudevents+avro", "application/cloudevents-batch+protobuf", "text/plain",
        "application/cloudevents",
    ])
    func `what is no JSON is of no supported type`(_ type: String) throws {
        #expect {
            try read(Self.structured, type)
        } throws: { error in
            if case .unsupportedType? = error as? DialectRefusal { true } else { false }
        }
    }

    @Test func `in binary mode data of any type is passed over, where nobody is notified of its event`() throws {
        let other = Self.binary.filter { $0.name != "ce-type" }
        for type in ["text/plain", "application/octet-stream", "image/png"] {
            let reading = try read("no JSON", type, other + [("ce-type", "foo.bar")])
            #expect(reading.known.isEmpty && reading.reason != nil)
            #expect(reading.events.map(\.shownID) == ["1"])
            for data in ["no JSON", Self.data] {
                #expect {
                    try read(data, type, Self.binary)
                } throws: { error in
                    if case .unsupportedType? = error as? DialectRefusal { true } else { false }
                }
            }
        }
    }

    @Test func `a batch is an array and a structured event is none`() throws {
        #expect(throws: DialectRefusal.self) { try read(Self.structured, "application/cloudevents-batch+json") }
        #expect(throws: DialectRefusal.self) { try read("[\(Self.structured)]") }
        let many = Array(repeating: Self.structured, count: 1_001).joined(separator: ",")
        #expect(throws: DialectRefusal.self) { try read("[\(many)]", "application/json") }
        #expect(throws: DialectRefusal.self) { try read(#"[{"id":"1"}]"#, "application/json") }
    }

    @Test(arguments: [("ce-id", "%C0%A0"), ("ce-id", ""), ("ce-specversion", "0.3"), ("ce-time", "x")])
    func `headers that cannot be understood are refused`(_ name: String, _ value: String) throws {
        let headers = Self.binary.filter { $0.name.lowercased() != name } + [(name, value)]
        #expect(throws: DialectRefusal.self) { try read(Self.data, "application/json", headers) }
        #expect(throws: DialectRefusal.self) { try read(Self.data, "application/json", Self.binary + [("ce-id", "2")]) }
    }

    private func pointers<Value>(_ body: () throws -> Value) -> [String]? {
        do {
            _ = try body()
            return nil
        } catch DialectRefusal.invalid(let input) {
            return input.errors.map(\.pointer)
        } catch {
            return nil
        }
    }
}
