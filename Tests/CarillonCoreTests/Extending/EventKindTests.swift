import CarillonTesting
import Testing

@testable import CarillonCore

/// What a new kind of event costs: the declaration of ``MissedCall`` is all that the pipeline needs.
@Suite struct EventKindTests {
    private let text = #"""
        {"id":"e-1","type":"call.missed","data":{"channel":{"id":"general"},"user":{"id":"alice","displayName":"Alice"},
        "members":["bob",{"id":"carol"}],"visibleTo":["alice","bob"]}}
        """#

    private func read(_ text: String, _ kinds: [any EventKind.Type]) throws -> (
        ParsedEvent.Content?, errors: [FieldError]
    ) {
        let errors = InputErrors()
        let reader = EventReader(now: testNow, fallbackSourceID: nil, errors: errors, kinds: kinds)
        return (reader.read(try JSONValue(parsing: Array(text.utf8)), at: "")?.content, errors.errors)
    }

    private func missed() throws -> Event {
        guard case .known(let event)? = try read(text, [MissedCall.self]).0 else {
            throw InvalidInput(problem: "", errors: [])
        }
        return event
    }

    @Test func `it is read, with what it cannot do without`() throws {
        let event = try missed()
        #expect(event.type == .kind(MissedCall.self) && event.type.rawValue == "call.missed")
        #expect(event.actor == Person(id: "alice", displayName: "Alice"))
        #expect(event.members == [Person(id: "bob"), Person(id: "carol")])
        let (content, errors) = try read(#"{"id":"e","type":"call.missed","data":{"members":[]}}"#, [MissedCall.self])
        #expect(content == nil)
        #expect(Set(errors.map(\.pointer)) == ["/data/channel", "/data/user", "/data/members"])
        #expect(try read(text, EventType.kinds).0 == .ignored(type: "call.missed"), "it is no kind of this release")
        #expect(EventType("call.missed") == .other("call.missed"))
    }

    @Test func `it finds its audience`() throws {
        var event = try missed()
        #expect(event.audience == .users(["bob"], in: "general"))
        event.visibleTo = nil
        #expect(event.audience == .users(["bob", "carol"], in: "general"))
        event.isSilent = true
        #expect(event.audience == .nobody)
    }

    @Test(arguments: [
        ("#general", "Alice (#general)", "Alice called you in #general"), ("", "Alice", "Alice called you"),
    ])
    func `it is rendered with its arguments for whom it concerns`(channel: String, title: String, body: String) throws {
        let event = try missed()
        let template = try CompiledTemplate(
            TemplateSource(
                title: .variants([.channel: "%1s (%2s)", .direct: "%1s"]),
                body: .variants([.channel: "{{UserDisplayName}} called you in %2s", .direct: "%1s called you"])
            ),
            for: event.type,
            locale: .english
        )
        let catalog = try TemplateCatalog.english(and: [template])
        let expander = Expander(catalog: catalog, ids: UUIDv7Generator(clock: WallClock { testNow }))
        var page = RecipientPage(
            settings: NetworkSettings(toggles: NetworkToggles(), defaultLocale: nil, templates: TemplateOverrides()),
            names: DirectoryNames(channel: channel),
            recipients: ["alice", "bob"].map {
                Recipient(userID: $0, devices: [Device("\($0)-1", of: $0, at: testNow)])
            },
            readPoint: ReadPoint("1:1:", moment: testNow)
        )
        let expansion = expander.expand(PendingEvent(event, at: testNow), page)
        let notification = Notification(locale: "en", title: title, body: body)
        #expect(expansion.groups.map(\.sent.push.notification) == [notification])
        #expect(expansion.groups.flatMap(\.targets).map(\.userID) == ["bob"], "who calls is not told of it")
        page.settings.toggles.disabledEvents = [event.type]
        #expect(expander.expand(PendingEvent(event, at: testNow), page).event.tally.suppressed == [.network: 1])
    }

    @Test func `its template is checked for what it has`() {
        let error = #expect(throws: InvalidInput.self) {
            try CompiledTemplate(
                TemplateSource(title: "%3s", body: "{{Message}}"),
                for: .kind(MissedCall.self),
                locale: .english
            )
        }
        #expect(error?.errors.map(\.pointer) == ["/title", "/body"])
    }
}
