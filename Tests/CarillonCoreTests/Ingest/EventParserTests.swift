import CarillonCore
import Testing

@Suite struct EventParserTests {
    static let now = Timestamp(milliseconds: 1_795_168_800_000)
    let parser = EventParser(clock: WallClock { now })

    @Test func `reads a message with everything that it can carry`() throws {
        let text = #"""
            {"id":"evt-1","type":"message.sent","timestamp":"2026-11-20T09:59:00.000Z",
             "data":{"channel":{"id":"general","displayName":"General","direct":true},
                     "user":{"id":"alice","displayName":"Alice","locale":"th-TH","roles":["moderator"]},
                     "message":{"id":"m-1","type":"text","text":"Hello"},
                     "mentions":["bob","carol","bob"],"mentionsAll":true,"members":[{"id":"bob","displayName":"Bob"},"carol"],
                     "visibleTo":["carol","bob","carol"],"notify":false}}
            """#
        let expected = Event(
            sourceID: "evt-1",
            type: .messageSent,
            timestamp: Self.now - .seconds(60),
            channel: Channel(id: ChannelID(trusted: "general"), displayName: "General", isDirect: true),
            actor: Person(id: UserID(trusted: "alice"), displayName: "Alice", locale: "th-TH", roles: ["moderator"]),
            members: [Person(id: UserID(trusted: "bob"), displayName: "Bob"), Person(id: UserID(trusted: "carol"))],
            message: Message(id: "m-1", kind: .text, text: "Hello"),
            mentions: [UserID(trusted: "bob"), UserID(trusted: "carol")],
            mentionsAll: true,
            visibleTo: [UserID(trusted: "bob"), UserID(trusted: "carol")],
            isSilent: true
        )
        let parsed = try parser.parse(body: Array(text.utf8), fallbackSourceID: nil)
        let event = ParsedEvent(sourceID: "evt-1", content: .known(expected), body: Array(text.utf8))
        #expect(parsed == .single(event))
    }

    @Test func `reads members as objects and as bare ids, each once`() throws {
        let event = try event(
            #"{"type":"member.joined","data":{"channel":{"id":"c"},"members":["bob",{"id":"carol","displayName":"C"},"bob"]}}"#
        )
        #expect(event.actor == nil)
        #expect(
            event.members == [
                Person(id: UserID(trusted: "bob")), Person(id: UserID(trusted: "carol"), displayName: "C"),
            ]
        )
    }

    @Test(arguments: [
        #""channel":{"id":"c"},"members":["a"]"#,
        #""channel":{"id":"c","direct":null},"members":["a"],"visibleTo":null,"notify":null,"mentionsAll":null"#,
        #""channel":{"id":"c"},"members":["a"],"notify":true"#,
    ])
    func `what is left out keeps an event from nobody`(data: String) throws {
        for type in ["channel.created", "member.joined"] {
            let event = try event(#"{"type":"\#(type)","data":{\#(data)}}"#)
            #expect(event.notifies && event.visibleTo == nil && event.channel?.isDirect == nil)
        }
        #expect(try !event(#"{"type":"member.left","data":{\#(data)}}"#).notifies)
    }

    @Test func `every event that notifies may be kept from people, and only those`() throws {
        let limits =
            #""channel":{"id":"c"},"user":{"id":"a"},"message":{"id":"m"},"members":["b"],"invited":["b"],"visibleTo":[],"notify":false"#
        for type in EventType.known where type != .notificationDirect {
            let event = try event(#"{"type":"\#(type.rawValue)","data":{\#(limits)}}"#)
            #expect(event.isSilent == type.notifies, "\(type)")
            #expect((event.visibleTo == []) == type.notifies, "\(type)")
        }
    }

    @Test(arguments: ["null", #""""#, #"" \t""#])
    func `a channel may be stated to have no name`(name: String) throws {
        let data = #""channel":{"id":"c","displayName":\#(name),"fallbackName":\#(name)},"message":{"text":"x"}"#
        let event = try event(#"{"type":"message.sent","data":{"user":{"id":"a"},\#(data)}}"#)
        #expect(event.channel == Channel(id: ChannelID(trusted: "c"), displayName: "", fallbackName: ""))
        let again = try self.event(event.canonicalJSON.serializedText)
        #expect(again.channel == event.channel)
    }

    @Test func `what a message shows may be said beside its type`() throws {
        let message = #"{"type":"poll","caption":"Lunch?","kind":"poll"}"#
        let data = #""channel":{"id":"c"},"user":{"id":"a"},"hiddenFrom":["b"],"message":"#
        let event = try event(#"{"type":"message.sent","data":{\#(data)\#(message)}}"#)
        #expect(event.message?.caption == "Lunch?" && event.message?.special == .poll)
        #expect(event.hiddenFrom == [UserID(trusted: "b")])
        #expect(try self.event(event.canonicalJSON.serializedText).message?.special == .poll)
        let unknown = try self.event(#"{"type":"message.sent","data":{\#(data){"kind":"hologram"}}}"#)
        #expect(unknown.message?.special == nil && unknown.message?.kind == .other)
    }

    @Test func `who leaves without being listed is the user of the event`() throws {
        let alone = try event(#"{"type":"member.left","data":{"channel":{"id":"c"},"user":{"id":"a"}}}"#)
        #expect(alone.members.map(\.id.rawValue) == ["a"])
        let unlisted = #"{"type":"member.left","data":{"channel":{"id":"c"},"user":{"id":"a"},"members":null}}"#
        #expect(try event(unlisted).members == alone.members)
        let removed = try event(
            #"{"type":"member.left","data":{"channel":{"id":"c"},"user":{"id":"admin"},"members":["a"]}}"#
        )
        #expect(removed.members.map(\.id.rawValue) == ["a"])
    }

    @Test(
        arguments: [
            (#"{"type":"channel.created","data":{"channel":{"id":"c"}}}"#, .channelCreated),
            (#"{"type":"channel.created","data":{"channel":{"id":"c"},"members":[]}}"#, .channelCreated),
            (#"{"type":"channel.updated","data":{"channel":{"id":"c"}}}"#, .channelUpdated),
            (#"{"type":"channel.deleted","data":{"channel":{"id":"c"}}}"#, .channelDeleted),
            (
                #"{"type":"channel.invited","data":{"channel":{"id":"c"},"user":{"id":"a"},"invited":["b"]}}"#,
                .channelInvited
            ),
            (#"{"type":"message.deleted","data":{"channel":{"id":"c"},"message":{"id":"m"}}}"#, .messageDeleted),
            (#"{"type":"member.joined","data":{"channel":{"id":"c"},"members":["a"]}}"#, .memberJoined),
            (#"{"type":"member.left","data":{"channel":{"id":"c"},"members":["a"]}}"#, .memberLeft),
            (#"{"type":"member.left","data":{"channel":{"id":"c"},"user":{"id":"a"}}}"#, .memberLeft),
            (#"{"type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"a"},"message":{}}}"#, .messageSent),
            (#"{"type":"user.updated","data":{"user":{"id":"a"}}}"#, .userUpdated),
            (#"{"type":"user.deleted","data":{"user":{"id":"a"}}}"#, .userDeleted),
        ] as [(String, EventType)]
    )
    func `asks no more of a type than it needs`(text: String, type: EventType) throws {
        #expect(try event(text).type == type)
    }

    @Test func `tolerates unknown fields everywhere and takes null as absent`() throws {
        let event = try event(
            #"""
            {"type":"message.sent","timestamp":null,"v":2,"data":{"thread":{},"mentions":null,
             "channel":{"id":"c","topic":1},"user":{"id":"a","roles":null,"locale":null,"age":[]},
             "message":{"id":null,"text":"x","reactions":{}}}}
            """#
        )
        #expect(event.channel == Channel(id: ChannelID(trusted: "c")))
        #expect(event.actor == Person(id: UserID(trusted: "a")))
        #expect(event.message == Message(kind: .text, text: "x"))
    }

    @Test(arguments: [
        (#"{"type":"text","text":"x"}"#, Message(kind: .text, text: "x")),
        (#"{"text":"x"}"#, Message(kind: .text, text: "x")),
        (#"{"type":"image"}"#, Message(kind: .image, text: "")),
        (#"{"type":"image","text":"caption"}"#, Message(kind: .image, text: "caption")),
        (#"{"type":"poll","text":"x"}"#, Message(kind: .other, text: "x")),
        (#"{"type":"other"}"#, Message(kind: .other, text: "")),
        (#"{"type":""}"#, Message(kind: .other, text: "")),
        ("{}", Message(kind: .other, text: "")),
    ])
    func `takes a message without a type for text if it has any`(text: String, message: Message) throws {
        let event = try event(
            #"{"type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"a"},"message":\#(text)}}"#
        )
        #expect(event.message == message)
    }

    @Test(
        arguments: [
            (nil, now),
            ("2026-11-20T10:04:59.999Z", now + .milliseconds(299_999)),
            ("2026-11-20T10:05:00.000Z", now + .seconds(300)),
            ("2026-11-20T10:05:00.001Z", now),
            ("9999-12-31T23:59:59Z", now),
            ("2020-02-29T07:00:00+07:00", Timestamp(milliseconds: 1_582_934_400_000)),
        ] as [(String?, Timestamp)]
    )
    func `takes a missing timestamp as now, and one more than five minutes ahead too`(
        timestamp: String?,
        expected: Timestamp
    ) throws {
        let member = timestamp.map { "\"timestamp\":\"\($0)\"," } ?? ""
        let event = try event(#"{\#(member)"type":"user.deleted","data":{"user":{"id":"a"}}}"#)
        #expect(event.timestamp == expected)
    }

    @Test func `ignores a type that it does not know, whatever its data`() throws {
        let text = #"{"id":"e","type":"reaction.added","timestamp":17,"data":[{"channel":{"id":""}}]}"#
        let parsed = try parser.parse(body: Array(text.utf8), fallbackSourceID: nil)
        let event = ParsedEvent(sourceID: "e", content: .ignored(type: "reaction.added"), body: Array(text.utf8))
        #expect(parsed == .single(event))
    }

    @Test func `takes the id of the body before that of the header`() throws {
        let own = Array(#"{"id":"own","type":"x.y"}"#.utf8)
        let none = Array(#"{"type":"x.y"}"#.utf8)
        #expect(try sourceID(own, fallback: "header") == "own")
        #expect(try sourceID(none, fallback: "header") == "header")
        #expect(try sourceID(Array(#"{"id":null,"type":"x.y"}"#.utf8), fallback: "header") == "header")
    }

    @Test(arguments: ["", "a\u{7F}b", "a\nb", String(repeating: "x", count: 257)])
    func `refuses a header's id that is no id`(header: String) throws {
        let error = try refusal(of: #"{"type":"x.y"}"#, fallback: header)
        #expect(error.errors.map(\.pointer) == [""])
        #expect(error.errors.allSatisfy { $0.detail.contains("webhook-id") })
    }

    @Test func `reads an event that stands in another body`() {
        let errors = InputErrors()
        let value: JSONValue = ["type": "user.deleted", "data": ["user": ["id": "me"]]]
        let content = parser.content(of: value, at: "/event", fallbackSourceID: "explained", into: errors)
        #expect(content == nil)
        #expect(errors.errors.map(\.pointer) == ["/event/data/user/id"])
    }

    private func event(_ text: String) throws -> Event {
        guard
            case .single(let parsed) = try parser.parse(body: Array(text.utf8), fallbackSourceID: "fallback"),
            case .known(let event) = parsed.content
        else { throw InvalidInput(problem: "not-one-known-event", errors: []) }
        return event
    }

    private func sourceID(_ body: [UInt8], fallback: String?) throws -> String? {
        guard case .single(let parsed) = try parser.parse(body: body, fallbackSourceID: fallback) else { return nil }
        return parsed.sourceID
    }

    private func refusal(of text: String, fallback: String?) throws -> InvalidInput {
        try #require(throws: InvalidInput.self) {
            try parser.parse(body: Array(text.utf8), fallbackSourceID: fallback)
        }
    }
}
