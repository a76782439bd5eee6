import CarillonCore
import Testing

@Suite struct NotificationSubjectTests {
    @Test func `a channel's creation tells the channel`() {
        let event = event(.channelCreated, channel: "General", actor: Person(id: alice, displayName: "Alice"))
        #expect(NotificationSubject(event: event) == .channelCreated(channel: "General"))
    }

    @Test func `a joining tells the first joiner and how many others`() {
        let people = [Person(id: bob, displayName: "Bob"), Person(id: alice), Person(id: bob)]
        let one = event(.memberJoined, channel: "General", members: [people[0]])
        let many = event(.memberJoined, channel: "General", actor: people[1], members: people)
        #expect(
            NotificationSubject(event: one) == .memberJoined(user: "Bob", channel: "General", furtherJoiners: 0)
        )
        #expect(
            NotificationSubject(event: many) == .memberJoined(user: "Bob", channel: "General", furtherJoiners: 1),
            "somebody listed twice joined once"
        )
    }

    @Test(arguments: [
        (Message.Kind.text, TemplateVariant.text), (.image, .image), (.other, .other),
    ])
    func `a message tells its sender, its kind and its words`(kind: Message.Kind, variant: TemplateVariant) {
        let message = Message(kind: kind, text: "Hi")
        let event = event(
            .messageSent,
            channel: "General",
            actor: Person(id: alice, displayName: "Al"),
            message: message
        )
        let subject = NotificationSubject(event: event)
        #expect(subject == .messageSent(user: "Al", channel: "General", kind: kind, text: "Hi"))
        #expect(subject?.variant == variant)
    }

    @Test(
        arguments: [
            ("Event", "Directory", "Event"), (nil, "Directory", "Directory"), (nil, nil, "alice"),
            ("", "Directory", "Directory"),
            ("", "", "alice"), ("\u{202E}\u{0}", nil, "alice"), (" ", nil, " "), ("\u{0}a", "Directory", "\u{0}a"),
        ] as [(String?, String?, String)]
    )
    func `the event's name goes before the directory's, and the id comes last`(
        own: String?,
        known: String?,
        expected: String
    ) {
        let names = DirectoryNames(channel: known, people: known.map { [alice: $0] } ?? [:])
        let message = event(.messageSent, channel: own, actor: Person(id: alice, displayName: own))
        let channel = expected == "alice" ? "general" : expected
        #expect(
            NotificationSubject(event: message, names: names)
                == .messageSent(user: expected, channel: channel, kind: .text, text: "")
        )
    }

    @Test(arguments: EventType.known + [.other("poll.closed")])
    func `what lacks something, or notifies nobody, tells nothing`(type: EventType) {
        #expect(NotificationSubject(event: event(type, channel: nil)) == nil || type == .channelCreated)
        let bare = Event(sourceID: "e", type: type, timestamp: Timestamp(milliseconds: 0), actor: Person(id: alice))
        #expect(NotificationSubject(event: bare) == nil)
    }

    private let alice = UserID(trusted: "alice")
    private let bob = UserID(trusted: "bob")

    private func event(
        _ type: EventType,
        channel: String?,
        actor: Person? = nil,
        members: [Person] = [],
        message: Message? = nil
    ) -> Event {
        Event(
            sourceID: "e",
            type: type,
            timestamp: Timestamp(milliseconds: 0),
            channel: Channel(id: ChannelID(trusted: "general"), displayName: channel),
            actor: actor,
            members: members,
            message: message ?? (actor == nil ? nil : Message(kind: .text, text: ""))
        )
    }
}
