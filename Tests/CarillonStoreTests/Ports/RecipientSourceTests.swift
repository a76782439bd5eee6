import CarillonCore
import CarillonTesting
import Testing

/// What ``RecipientSource`` promises.
@Suite(.stores) struct RecipientSourceTests {
    let scene = StoreScene.here

    @Test func `a page tells whether anybody was a member before`() async throws {
        func former(_ event: Event) async throws -> FormerMembers {
            try await scene.page(of: event, scene.accept(event)[0]).formerMembers
        }
        let alice = Person(id: "a")
        #expect(try await former(.message("never heard of", from: alice)) == .noChannel)
        #expect(try await former(.message("never heard of", from: alice, at: 1)) == .some, "who wrote is there by now")
        #expect(try await former(.message("named", from: alice, channelName: "Named")) == .nobody)
        try await scene.accept(.channel(.channelUpdated, Channel(id: "known", displayName: "Known"), at: 0))
        #expect(try await former(.message("known", from: alice)) == .nobody)
        #expect(try await former(.members(.memberJoined, "joined", ["b"], at: 0)) == .noChannel)
        #expect(try await former(.members(.memberJoined, "known", ["b"], at: 2)) == .some)
        try await scene.accept(.members(.memberLeft, "known", ["a", "b"], at: 3))
        #expect(try await former(.message("known", from: alice, at: 4)) == .nobody)
    }

    @Test func `who is asked for is answered, whether the event concerns them or not`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a", "b", "gone"]),
            .members(.memberLeft, "c", ["gone"], at: 1)
        )
        _ = try await scene.devices.putDevice(.log("d", of: "gone"), in: scene.network)
        _ = try await scene.toggles.set(.channel("gone", "c"), ["mentionsOnly": true], in: scene.network)
        let page = try await scene.recipients.page(
            for: RecipientQuery(
                networkID: scene.network,
                prospect: .message("c", from: Person(id: "z"), at: 2),
                only: ["a", "gone", "stranger"]
            )
        )
        #expect(page.recipients.map(\.userID) == ["a"])
        #expect(page.others.map(\.userID) == ["gone", "stranger"])
        #expect(page.others.first?.devices.map(\.id) == ["d"])
        #expect(page.others.first?.settings.channel.mentionsOnly == true)
        #expect(page.next == nil)
    }

    @Test func `an event that is only thought of makes members as if it were accepted`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a"]),
            .members(.memberLeft, "c", ["a", "late"], at: 5)
        )
        var event = Event.created("c", by: "z", members: ["a", "b", "late"], at: 4)
        event.members[1].locale = "th"
        let query = RecipientQuery(networkID: scene.network, prospect: event, only: ["a", "b", "c", "late"])
        for _ in 0..<2 {
            let page = try await scene.recipients.page(for: query)
            #expect(page.recipients.map(\.userID) == ["b"])
            #expect(page.recipients.first?.locale == "th")
            #expect(page.others.map(\.userID) == ["a", "c", "late"])
        }
        #expect(try await scene.members(of: "c") == [])
        #expect(try await scene.directory.user("b", in: scene.network) == nil)
    }

    @Test func `an unknown channel concerns nobody`() async throws {
        let page = try await scene.page(of: .message("nowhere", from: Person(id: "a")))
        #expect(page.recipients.isEmpty)
        #expect(page.next == nil)
    }

    @Test func `a message concerns the members in the order of their ids, with what they have set`() async throws {
        try await scene.accept(
            .created("c", by: "z", members: ["b", "a"]),
            .user(.userUpdated, Person(id: "a", displayName: "Alice", locale: "th"), at: 1)
        )
        let address = DeviceAddress.apns(token: "AB", appID: "app", environment: .sandbox)
        let device = Device("d1", of: "a", address, locale: "de", at: .seconds(3))
        _ = try await scene.devices.putDevice(device, in: scene.network)
        _ = try await scene.devices.putDevice(.log("d2", of: "a"), in: scene.network)
        _ = try await scene.toggles.set(.user("b"), ["enabled": false], in: scene.network)
        _ = try await scene.toggles.set(.channel("b", "c"), ["mentionsOnly": true], in: scene.network)
        let page = try await scene.page(of: .message("c", from: Person(id: "z"), at: 2))
        #expect(page.recipients.map(\.userID) == ["a", "b", "z"])
        let alice = try #require(page.recipients.first)
        #expect(alice.locale == "th")
        #expect(alice.devices == [device, .log("d2", of: "a")])
        #expect(alice.settings == ToggleSettings())
        let bob = try #require(page.recipients.dropFirst().first)
        #expect(!bob.settings.user.enabled)
        #expect(bob.settings.channel.mentionsOnly)
        #expect(bob.devices.isEmpty)
    }

    @Test func `who became a member after an event is not concerned by it`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a", "b"]))
        let event = Event.message("c", from: Person(id: "z"), at: 1)
        let id = try await scene.accept(event)[0]
        try await scene.accept(.members(.memberJoined, "c", ["late"], at: 2))
        _ = try await scene.directory.addMember("later", to: "c", in: scene.network)
        try await scene.accept(.members(.memberLeft, "c", ["b"], at: 2), .members(.memberJoined, "c", ["b"], at: 3))
        #expect(try await scene.page(of: event, id).recipients.map(\.userID) == ["a", "z"])
        #expect(try await scene.page(of: event).recipients.count == 5)
    }

    @Test("who joined before an event is told of it, whatever the clocks of those who took both in")
    func whoJoinedBeforeAnEventByAnotherClock() async throws {
        let ahead = UUIDv7Generator(clock: WallClock { WallClock.system.now() + .seconds(60) })
        var join = scene.incoming(.members(.memberJoined, "c", ["early"], at: 0))
        join.id = EventID(ahead.next())
        _ = try await scene.inbox.accept([join])
        let event = Event.message("c", from: Person(id: "z"), at: 1)
        let id = try await scene.accept(event)[0]
        let behind = UUIDv7Generator(clock: WallClock { WallClock.system.now() - .seconds(60) })
        var late = scene.incoming(.members(.memberJoined, "c", ["late"], at: 2))
        late.id = EventID(behind.next())
        _ = try await scene.inbox.accept([late])
        #expect(try await scene.page(of: event, id).recipients.map(\.userID) == ["early", "z"])
        let now = try await scene.page(of: event, EventID(behind.next()))
        #expect(now.recipients.map(\.userID) == ["early", "late", "z"])
    }

    @Test func `who leaves and joins again in one batch is a new member`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a", "b"]))
        let event = Event.message("c", from: Person(id: "z"), at: 1)
        let id = try await scene.accept(event)[0]
        try await scene.acceptTogether(
            .members(.memberLeft, "c", ["b"], at: 2),
            .members(.memberJoined, "c", ["b"], at: 3)
        )
        #expect(try await scene.page(of: event, id).recipients.map(\.userID) == ["a", "z"])
    }

    @Test func `joining again while being a member changes nothing`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a"]))
        let event = Event.message("c", from: Person(id: "z"), at: 1)
        let id = try await scene.accept(event)[0]
        try await scene.accept(.members(.memberJoined, "c", ["a"], at: 2))
        try await scene.directory.replaceMembers(of: "c", with: ["a"], in: scene.network)
        #expect(try await scene.page(of: event, id).recipients.map(\.userID) == ["a"])
    }

    @Test func `joining concerns those who were members before`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a"]))
        let event = Event.members(.memberJoined, "c", ["b"], at: 1)
        let id = try await scene.accept(event)[0]
        #expect(try await scene.page(of: event, id).recipients.map(\.userID) == ["a"])
    }

    @Test func `creating a channel concerns the listed who are still members`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["old"], at: 0))
        let event = Event.created("c", by: "z", members: ["b", "a", "gone", "old"], at: 1)
        let id = try await scene.accept(event)[0]
        try await scene.accept(.members(.memberLeft, "c", ["gone"], at: 2))
        #expect(try await scene.page(of: event, id).recipients.map(\.userID) == ["a", "b", "old"])
    }

    @Test func `only active devices are found`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a"]))
        let states: [DeviceState] = [.active, .quarantined, .unregistered]
        for state in states {
            var device = Device.log(DeviceID(trusted: state.rawValue), of: "a")
            device.state = state
            _ = try await scene.devices.putDevice(device, in: scene.network)
        }
        let page = try await scene.page(of: .message("c", from: Person(id: "z"), at: 1))
        #expect(page.recipients.first?.devices.map(\.id) == ["active"])
    }

    @Test func `deleted people are not found`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a", "b"]),
            .user(.userDeleted, Person(id: "a"), at: 1)
        )
        let page = try await scene.page(of: .message("c", from: Person(id: "z"), at: 2))
        #expect(page.recipients.map(\.userID) == ["b"])
    }

    @Test func `the page carries the network's settings and the names`() async throws {
        _ = try await scene.accounts.updateNetwork(scene.network) { network in
            var network = network
            network.defaultLocale = "th"
            return network
        }
        _ = try await scene.toggles.set(.network, ["enabled": false], in: scene.network)
        let template = TemplateOverride(
            eventType: .messageSent,
            locale: "en",
            source: TemplateSource(title: "%s", body: .one("New: %s")),
            updatedAt: .seconds(0)
        )
        _ = try await scene.templates.putTemplate(template, in: scene.network)
        let alice = Person(id: "a", displayName: "Alice", roles: ["moderator"])
        try await scene.accept(
            .user(.userUpdated, alice, at: 0),
            .user(.userUpdated, Person(id: "b", displayName: "Bob"), at: 0),
            .channel(.channelUpdated, Channel(id: "c", displayName: "General"), at: 0)
        )
        var event = Event.members(.memberJoined, "c", ["b", "x"], at: 1)
        event.actor = Person(id: "a")
        let page = try await scene.page(of: event)
        #expect(!page.settings.toggles.enabled)
        #expect(page.settings.defaultLocale == "th")
        let locale = try #require(LocaleTag("en"))
        let message = try await scene.page(of: .message("c", from: Person(id: "a")))
        #expect(message.settings.templates[.messageSent, locale]?.source == template.source)
        #expect(page.names.channel == "General")
        #expect(page.names.people["a"] == "Alice")
        #expect(page.names.people["b"] == "Bob")
        #expect(page.names.roles["a"] == ["moderator"])
        event.channel?.displayName = "General by the event"
        event.actor = Person(id: "a", displayName: "Alice by the event")
        event.members[0].displayName = "\u{202E}\u{7F} "
        let partly = try await scene.page(of: event).names
        #expect(partly.channel == nil)
        #expect(partly.roles["a"] == ["moderator"])
        #expect(partly.people["b"] == "Bob")
        event.actor?.roles = []
        event.members[0].displayName = "บ๊อบ"
        #expect(try await scene.page(of: event).names == DirectoryNames())
    }

    @Test func `a changed template is seen at once`() async throws {
        let locale = try #require(LocaleTag("en"))
        for body in ["One", "Two"] {
            let template = TemplateOverride(
                eventType: .messageSent,
                locale: "en",
                source: TemplateSource(title: "T", body: .one(body)),
                updatedAt: .seconds(0)
            )
            _ = try await scene.templates.putTemplate(template, in: scene.network)
            let page = try await scene.page(of: .message("c", from: Person(id: "z")))
            #expect(page.settings.templates[.messageSent, locale]?.source.body == .one(body))
        }
        _ = try await scene.templates.deleteTemplate(.messageSent, locale: "en", in: scene.network)
        let page = try await scene.page(of: .message("c", from: Person(id: "z")))
        #expect(page.settings.templates[.messageSent, locale] == nil)
    }

    @Test func `a page has the templates of its event's type, whatever it is read with`() async throws {
        let locale = try #require(LocaleTag("en"))
        let bodies: [(EventType, TemplateWording)] = [
            (.messageSent, .one("A message")), (.channelCreated, .one("A channel")),
        ]
        for (type, body) in bodies {
            let source = TemplateSource(title: "T", body: body)
            let template = TemplateOverride(eventType: type, locale: "en", source: source, updatedAt: .seconds(0))
            _ = try await scene.templates.putTemplate(template, in: scene.network)
        }
        let events = [Event.message("c", from: Person(id: "z")), .created("c", by: "z", members: ["a"])]
        for events in [[events[0]], [events[1]], events, [events[0]]] {
            let queries = events.map { event in
                RecipientQuery(networkID: scene.network, eventID: EventID(scene.ids.next()), event: event)
            }
            let pages = try await scene.recipients.recipients(for: queries)
            #expect(pages.count == events.count)
            for (page, event) in zip(pages, events) {
                for (type, body) in bodies {
                    let found = page.settings.templates[type, locale]?.source.body
                    #expect(found == (type == event.type ? body : nil))
                }
            }
        }
    }

    @Test func `several queries are answered in their order`() async throws {
        try await scene.accept(
            .created("c1", by: nil, members: ["a", "b"]),
            .created("c2", by: nil, members: ["b", "c"])
        )
        let events: [Event] = [
            .message("c2", from: Person(id: "z"), at: 1), .user(.userUpdated, Person(id: "a"), at: 1),
            .message("c1", from: Person(id: "z"), at: 1), .created("c1", by: nil, members: ["b"], at: 1),
            .message("c2", from: Person(id: "z"), at: 2),
        ]
        let queries = events.map {
            RecipientQuery(networkID: scene.network, eventID: EventID(scene.ids.next()), event: $0)
        }
        let pages = try await scene.recipients.recipients(for: queries)
        #expect(pages.map { $0.recipients.map(\.userID) } == [["b", "c"], [], ["a", "b"], ["b"], ["b", "c"]])
        #expect(Set(pages.map(\.readPoint)).count == 1)
    }

    @Test func `a large channel comes in pages, each member once`() async throws {
        let count = recipientPageSize
        let users = (0..<count).map { UserID(trusted: "u\(1_000_000 + $0)") }
        try await scene.directory.replaceMembers(of: "c", with: users, in: scene.network)
        try await scene.directory.replaceMembers(of: "small", with: ["u1000000", "x"], in: scene.network)
        _ = try await scene.devices.putDevice(.log("d1", of: users[0]), in: scene.network)
        _ = try await scene.devices.putDevice(.log("d2", of: users[0]), in: scene.network)
        _ = try await scene.devices.putDevice(.log("d3", of: users[count - 1]), in: scene.network)
        let event = EventID(scene.ids.next())
        var query = RecipientQuery(
            networkID: scene.network,
            eventID: event,
            event: .message("c", from: Person(id: "z"), at: 1)
        )
        let small = RecipientQuery(
            networkID: scene.network,
            eventID: event,
            event: .message("small", from: Person(id: "z"), at: 1)
        )
        let pages = try await scene.recipients.recipients(for: [small, query, query, small])
        #expect(pages.map(\.recipients.count) == [2, firstRecipientPageSize, firstRecipientPageSize, 2])
        #expect(pages[1].recipients[0].devices.map(\.id) == ["d1", "d2"])
        query.after = pages[1].next
        #expect(try await scene.recipients.recipients(for: [small, query, small]).count == 1)
        let others = try await scene.recipients.recipients(for: [query, small])
        #expect(others.count == 1)
        #expect(others[0].recipients.count == count - firstRecipientPageSize)
        #expect(others[0].next == nil)
        #expect(pages[1].recipients.map(\.userID) + others[0].recipients.map(\.userID) == users)
        #expect(others[0].recipients.last?.devices.map(\.id) == ["d3"])
    }

    @Test func `the members of another network are not found`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a"]))
        let query = RecipientQuery(.message("c", from: Person(id: "z")), in: scene.otherNetwork)
        #expect(try await scene.recipients.recipients(for: [query])[0].recipients.isEmpty)
    }
}

extension StoreScene {
    /// The first page for an event that was accepted as `id`, or comes now.
    func page(of event: Event, _ id: EventID? = nil) async throws -> RecipientPage {
        let query = RecipientQuery(networkID: network, eventID: id ?? EventID(ids.next()), event: event)
        guard let page = try await recipients.recipients(for: [query]).first else { throw UnexpectedAnswer() }
        return page
    }
}
