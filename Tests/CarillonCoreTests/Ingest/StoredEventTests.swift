import Testing

@testable import CarillonCore

/// What stands in the inbox is read by every release that comes after the one that wrote it.
@Suite struct StoredEventTests {
    private static let received = Timestamp(milliseconds: 1_795_168_800_000)
    private static let occurred = Timestamp(milliseconds: 1_795_168_700_000)

    private func read(_ body: String) -> StoredEvent {
        StoredEvent(body: Array(body.utf8), sourceID: "evt-1", receivedAt: Self.received, occurredAt: Self.occurred)
    }

    private static func event(
        _ type: EventType,
        channel: Channel? = Channel(id: ChannelID(trusted: "general"), displayName: "Général \"1\""),
        actor: Person? = Person(
            id: UserID(trusted: "alice"),
            displayName: "Alice",
            locale: "pt-BR",
            roles: ["moderator"]
        ),
        members: [Person] = [],
        message: Message? = nil,
        mentions: Set<UserID> = []
    ) -> Event {
        Event(
            sourceID: "evt-1",
            type: type,
            timestamp: occurred,
            channel: channel,
            actor: actor,
            members: members,
            message: message,
            mentions: mentions
        )
    }

    private static let people = [
        Person(id: UserID(trusted: "bob"), displayName: "Bob"), Person(id: UserID(trusted: "carol"), roles: []),
    ]

    /// Bodies as the first release stored them: as they were posted, in whatever spelling.
    private static let recorded: [(String, Event)] = [
        (
            #"""
            {"id":"evt-1","type":"message.sent","timestamp":"2026-11-20T10:00:00Z","data":{"channel":{"id":"general",
            "displayName":"Général \u00221\""},"user":{"id":"alice","displayName":"Alice","locale":"pt-br","roles":["moderator"]},
            "message":{"id":"m-1","type":"text","text":"Hello"},"mentions":["carol","bob","bob"],"threadId":"t"},"v":2}
            """#,
            event(
                .messageSent,
                message: Message(id: "m-1", kind: .text, text: "Hello"),
                mentions: [UserID(trusted: "bob"), UserID(trusted: "carol")]
            )
        ),
        (
            #"""
             { "type" : "member.joined", "data" : { "channel" : { "id" : "general", "displayName" : null },
               "user" : null, "members" : [ "bob", {"id":"carol","roles":[]}, "bob" ] } }
            """#,
            event(
                .memberJoined,
                channel: Channel(id: ChannelID(trusted: "general"), displayName: ""),
                actor: nil,
                members: [Person(id: UserID(trusted: "bob")), people[1]]
            )
        ),
        (
            #"""
            {"type":"message.sent","data":{"channel":{"id":"general","direct":"yes"},"user":{"id":"alice"},
            "message":{"text":"Hi"},"members":12,"mentionsAll":"no","visibleTo":{},"notify":"quiet"}}
            """#,
            event(
                .messageSent,
                channel: Channel(id: ChannelID(trusted: "general")),
                actor: Person(id: UserID(trusted: "alice")),
                message: Message(kind: .text, text: "Hi")
            )
        ),
        (
            #"{"id":"other","type":"channel.created","data":{"channel":{"id":"general"}}}"#,
            event(.channelCreated, channel: Channel(id: ChannelID(trusted: "general")), actor: nil)
        ),
    ]

    @Test(arguments: recorded) func `what the former release stored is read`(body: String, expected: Event) {
        #expect(read(body) == .event(expected))
    }

    @Test func `canonical JSON says what keeps an event from people, and whom it mentions`() {
        var message = Self.event(.messageSent, members: Self.people, message: Message(kind: .text, text: "Hi"))
        message.mentionsAll = true
        message.visibleTo = [UserID(trusted: "bob"), UserID(trusted: "alice")]
        message.channel?.isDirect = true
        var created = Self.event(.channelCreated, members: Self.people)
        created.isSilent = true
        created.visibleTo = []
        created.channel?.isDirect = false
        for event in [message, created] { #expect(read(event.canonicalJSON.serializedText) == .event(event)) }
    }

    @Test(arguments: [
        event(.messageSent, message: Message(kind: .other, text: "")),
        event(
            .messageSent,
            message: Message(id: "m", kind: .image, text: "two\nlines \u{1F514}"),
            mentions: [UserID(trusted: "bob"), UserID(trusted: "\"e\\")]
        ), event(.channelCreated, members: people), event(.channelCreated, actor: nil),
        event(.memberJoined, actor: nil, members: people), event(.memberLeft, members: people),
        event(.memberLeft, members: [Person(id: UserID(trusted: "alice"))]), event(.channelUpdated),
        event(.channelDeleted, actor: nil), event(.userUpdated, channel: nil), event(.userDeleted, channel: nil),
    ])
    func `canonical JSON is read as what was written`(event: Event) {
        #expect(read(event.canonicalJSON.serializedText) == .event(event))
    }

    @Test func `a kind that only a later release knows is told apart from what nobody can read`() {
        #expect(read(#"{"type":"poll.closed","data":{"votes":3}}"#) == .unknownType("poll.closed"))
        #expect(read(#"{"type":"message.sent","data":{}}"#) == .unreadable)
        #expect(read("[]") == .unreadable)
        #expect(read("{") == .unreadable)
    }

    @Test func `every type is known by its name, and every other name is a type`() {
        for type in EventType.known {
            #expect(EventType(type.rawValue) == type)
            #expect(EventType(known: type.rawValue) == type)
        }
        #expect(EventType("poll.closed") == .other("poll.closed"))
        #expect(EventType("poll.closed").rawValue == "poll.closed")
        #expect(EventType(known: "poll.closed") == nil)
        #expect(EventType.other("poll.closed").notifies == false)
    }
}
