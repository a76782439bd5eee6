import CarillonCore
import Testing

@Suite struct NotificationSubjectTests {
    @Test func `a channel's creation tells the channel`() {
        let event = event(.channelCreated, channel: "General", actor: Person(id: alice, displayName: "Alice"))
        #expect(NotificationSubject(event: event) == NotificationSubject(.channelCreated, channel: "General"))
    }

    @Test func `a joining tells the first joiner and how many others`() {
        let people = [Person(id: bob, displayName: "Bob"), Person(id: alice), Person(id: bob)]
        let one = event(.memberJoined, channel: "General", members: [people[0]])
        let many = event(.memberJoined, channel: "General", actor: people[1], members: people)
        #expect(
            NotificationSubject(event: one)
                == NotificationSubject(.memberJoined, .one, user: "Bob", channel: "General", others: 0)
        )
        #expect(
            NotificationSubject(event: many)
                == NotificationSubject(.memberJoined, .many, user: "Bob", channel: "General", others: 1),
            "somebody listed twice joined once"
        )
    }

    @Test(arguments: [(Message.Kind.text, TemplateVariant.text), (.image, .image), (.other, .other)])
    func `a message tells its sender, its kind and its words`(kind: Message.Kind, variant: TemplateVariant) {
        let message = Message(kind: kind, text: "Hi")
        let event = event(
            .messageSent,
            channel: "General",
            actor: Person(id: alice, displayName: "Al"),
            message: message
        )
        let subject = NotificationSubject(event: event)
        #expect(subject == NotificationSubject(.messageSent, variant, user: "Al", channel: "General", words: "Hi"))
    }

    @Test(
        arguments: [
            ("Event", "Directory", "Event"), (nil, "Directory", "Directory"), (nil, nil, "alice"),
            ("", "Directory", "Directory"),
            ("", "", "alice"), ("\u{202E}\u{0}", nil, "alice"), (" ", nil, "alice"), ("\u{0}a", "Directory", "\u{0}a"),
        ] as [(String?, String?, String)]
    )
    func `a person's name in the event goes before the directory's, and the id comes last`(
        own: String?,
        known: String?,
        expected: String
    ) {
        let names = DirectoryNames(channel: "c", people: known.map { [alice: $0] } ?? [:])
        let message = event(.messageSent, channel: nil, actor: Person(id: alice, displayName: own))
        #expect(
            NotificationSubject(event: message, names: names)
                == NotificationSubject(.messageSent, .other, user: expected, channel: "c", words: "")
        )
    }

    @Test(
        arguments: [
            // The directory's name, the event's, its fallback, whether it is direct: what a text says.
            ("Directory", "Event", nil, false, "Event"), ("Directory", nil, nil, false, "Directory"),
            (nil, nil, nil, false, "general"), (nil, nil, nil, true, nil),
            ("Directory", "", nil, false, nil), ("", nil, nil, false, nil), (nil, " \u{200B}\n", nil, false, nil),
            ("", "Event", nil, false, "Event"), (nil, nil, "", false, nil), (nil, nil, "#alias:x", false, "#alias:x"),
            ("", nil, "#alias:x", false, "#alias:x"), ("Directory", nil, "#alias:x", false, "Directory"),
            ("Directory", nil, "", false, "Directory"), ("Directory", nil, nil, true, "Directory"),
        ] as [(String?, String?, String?, Bool, String?)]
    )
    func `a channel without a name is told by nobody's id`(
        known: String?,
        own: String?,
        fallback: String?,
        isDirect: Bool,
        expected: String?
    ) {
        var message = event(.messageSent, channel: own, actor: Person(id: alice))
        message.channel?.fallbackName = fallback
        let names = DirectoryNames(channel: known, isDirect: isDirect)
        #expect(
            NotificationSubject(event: message, names: names)
                == NotificationSubject(
                    .messageSent,
                    .other,
                    user: "alice",
                    channel: expected,
                    words: "",
                    isDirect: isDirect
                )
        )
        var others = message
        others.members = [Person(id: bob)]
        for type in [EventType.channelCreated, .memberJoined] {
            others.type = type
            #expect(NotificationSubject(event: others, names: names)?.lacksName == (expected == nil), "\(type)")
        }
    }

    @Test(
        arguments: [
            (Message(kind: .text, text: "Hi"), .text, "Hi"),
            (Message(kind: .text, text: "Hi", caption: "x", special: .poll), .text, "Hi"),
            (Message(kind: .text, text: " \n\u{1}"), .other, " \n\u{1}"),
            (Message(kind: .text, text: "", special: .poll), .poll, ""),
            (Message(kind: .text, text: "", caption: "x", special: .poll), .text, "x"),
            (Message(kind: .image, text: "https://x"), .image, "https://x"),
            (Message(kind: .image, text: "https://x", caption: "Sea"), .text, "Sea"),
            (Message(kind: .image, text: "", caption: " ", special: .sticker), .image, ""),
            (Message(kind: .other, text: "x"), .other, "x"),
            (Message(kind: .other, text: "x", caption: "Look"), .text, "Look"),
        ] as [(Message, TemplateVariant, String)]
            + Message.Special.allCases.map { special in
                (
                    Message(kind: .other, text: "", special: special),
                    TemplateVariant(rawValue: special.rawValue) ?? .one, ""
                )
            }
    )
    func `a message shows its words, what is written beside it, or what it is`(
        message: Message,
        variant: TemplateVariant,
        text: String
    ) throws {
        var subject = NotificationSubject(.messageSent, channel: "c")
        subject.tell(message, from: "u")
        #expect(subject == NotificationSubject(.messageSent, variant, user: "u", channel: "c", words: text))
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
