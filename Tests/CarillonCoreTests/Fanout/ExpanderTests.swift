import CarillonTesting
import Testing

@testable import CarillonCore

@Suite struct ExpanderTests {
    private static let general = Channel(id: "general", displayName: "General")
    private let alice = Person(id: "alice", displayName: "Alice")

    private func expander() throws -> Expander {
        let indonesian = try CompiledTemplate(
            .init(title: "%1s @ %2s", body: .variants([.text: "%s", .image: "Gambar", .other: "Pesan"])),
            for: .messageSent,
            locale: #require(LocaleTag("id"))
        )
        let catalog = try TemplateCatalog.english(and: [indonesian])
        return Expander(catalog: catalog, ids: UUIDv7Generator(clock: WallClock { testNow }))
    }

    private func pending(_ event: Event) -> PendingEvent { PendingEvent(event, at: testNow) }

    private func message(mentions: Set<UserID> = []) -> Event {
        Event(
            sourceID: "evt-1",
            type: .messageSent,
            timestamp: testNow,
            channel: Self.general,
            actor: alice,
            message: Message(kind: .text, text: "Hello"),
            mentions: mentions
        )
    }

    private func recipient(_ user: String, devices: Int = 1, locale: String? = nil, deviceLocale: String? = nil)
        -> Recipient
    {
        let id = UserID(trusted: user)
        let devices = (0..<devices).map {
            Device("\(user)-\($0)", of: id, locale: deviceLocale, at: testNow)
        }
        return Recipient(userID: id, locale: locale, devices: devices)
    }

    private func page(_ recipients: [Recipient], _ toggles: NetworkToggles = .init(), next: PageCursor? = nil)
        -> RecipientPage
    {
        RecipientPage(
            settings: NetworkSettings(toggles: toggles, defaultLocale: nil, templates: .init()),
            names: DirectoryNames(),
            recipients: recipients,
            next: next,
            readPoint: ReadPoint("1:1:", moment: testNow)
        )
    }

    @Test func `hands on which message it is and who wrote it`() throws {
        var named = message()
        named.message?.id = "m-1"
        let cause = try #require(try expander().expand(pending(named), page([recipient("bob")])).groups.first?.cause)
        #expect(cause.messageID == "m-1")
        #expect(cause.senderID == "alice")
        let unnamed = try expander().expand(pending(message()), page([recipient("bob")])).groups.first?.cause
        #expect(unnamed?.messageID == nil)
        #expect(unnamed?.senderID == "alice")
        var joined = message()
        (joined.type, joined.message, joined.members) = (.memberJoined, nil, [Person(id: "carol")])
        let other = try #require(try expander().expand(pending(joined), page([recipient("bob")])).groups.first?.cause)
        #expect(other.senderID == nil)
    }

    @Test func `counts everybody once and sends to every device of those whom all levels allow`() throws {
        var muted = recipient("muted")
        muted.settings.user.enabled = false
        var off = recipient("off", devices: 3)
        off.settings.channel.enabled = false
        let recipients = [
            recipient("alice"), recipient("bob", devices: 2), muted, off, recipient("nodevice", devices: 0),
        ]
        let expansion = try expander().expand(pending(message()), page(recipients))
        let tally = expansion.event.tally
        #expect(tally.resolved == 4)
        #expect(tally.notified == 1)
        #expect(tally.suppressed == [.user: 1, .channel: 1])
        #expect(tally.noDevice == 1)
        #expect(expansion.groups.flatMap(\.targets).map(\.deviceID.rawValue) == ["bob-0", "bob-1"])
        #expect(
            expansion.groups.map(\.sent.push.notification) == [
                Notification(locale: "en", title: "Alice (General)", body: "Hello")
            ]
        )
    }

    @Test func `who wants mentions only is told where everybody is mentioned`() throws {
        var bob = recipient("bob")
        bob.settings.channel.mentionsOnly = true
        var event = message()
        #expect(try expander().expand(pending(event), page([bob])).event.tally.suppressed == [.channel: 1])
        event.mentionsAll = true
        let expansion = try expander().expand(pending(event), page([bob, recipient("carol")]))
        #expect(expansion.event.tally.notified == 2)
        #expect(expansion.groups.allSatisfy { $0.cause.isMentioning(UserID(trusted: "bob")) })
    }

    @Test func `a silent event notifies nobody, whoever is asked about`() throws {
        var event = message()
        event.isSilent = true
        let expansion = try expander().expand(pending(event), page([recipient("bob")]))
        #expect(expansion.groups.isEmpty && expansion.event.tally.resolved == 0)
    }

    @Test(arguments: [(FormerMembers.some, WhyNobody.onlyActor), (.nobody, .noMembers), (.noChannel, .unknownChannel)])
    func `says why a message concerns nobody`(former: FormerMembers, why: WhyNobody) throws {
        var alone = page([recipient("alice")])
        alone.formerMembers = former
        #expect(try expander().expand(pending(message()), alone).why == why)
        var first = alone
        first.next = .user("alice")
        #expect(try expander().expand(pending(message()), first).why == nil, "another page may have somebody")
        var silent = message()
        silent.isSilent = true
        #expect(try expander().expand(pending(silent), alone).why == nil, "nobody was to be told")
        alone.recipients.append(recipient("bob"))
        #expect(try expander().expand(pending(message()), alone).why == nil)
    }

    @Test func `says whether none of those are known whom an event names, or only who caused it`() throws {
        let expander = try expander()
        func why(_ change: (inout Event) -> Void) -> WhyNobody? {
            var event = message()
            change(&event)
            return expander.expand(pending(event), page([])).why
        }
        #expect(why { $0.visibleTo = ["nobody"] } == .noneKnown)
        #expect(why { $0.visibleTo = ["alice"] } == nil, "others may be members")
        func created(by creator: Person?, _ members: [Person]) -> WhyNobody? {
            why { event in (event.type, event.actor, event.members) = (.channelCreated, creator, members) }
        }
        #expect(created(by: alice, [alice]) == .onlyActor)
        #expect(created(by: alice, [Person(id: "gone")]) == .noneKnown)
        #expect(created(by: nil, []) == .noMembers)
    }

    @Test(arguments: [FormerMembers.some, .nobody, .noChannel])
    func `an event that is kept from some says nothing of who is known`(former: FormerMembers) throws {
        let expander = try expander()
        func expand(_ recipients: [Recipient], _ change: (inout Event) -> Void) -> Expansion {
            var event = message()
            change(&event)
            var page = page(recipients)
            page.formerMembers = former
            return expander.expand(pending(event), page)
        }
        let muted = expand([recipient("alice"), recipient("bob")]) { $0.hiddenFrom = ["bob"] }
        #expect(muted.event.tally.resolved == 0 && muted.why == nil)
        for visible: Set<UserID> in [[], ["alice"]] {
            #expect(expand([recipient("alice")]) { $0.visibleTo = visible }.why == nil)
        }
        #expect(expand([]) { ($0.visibleTo, $0.hiddenFrom) = (["bob"], ["bob"]) }.why == nil)
        let created = expand([]) { event in
            (event.type, event.actor, event.members, event.visibleTo) = (.channelCreated, nil, [Person(id: "bob")], [])
        }
        #expect(created.why == nil)
    }

    @Test func `a network that is off notifies nobody`() throws {
        var toggles = NetworkToggles()
        toggles.enabled = false
        let expansion = try expander().expand(
            pending(message()),
            page([recipient("bob"), recipient("carol")], toggles)
        )
        #expect(expansion.groups.isEmpty)
        #expect(expansion.event.tally.suppressed == [.network: 2])
    }

    @Test func `neither joiners nor who added them are told of it`() throws {
        let joined = Event(
            sourceID: "evt-2",
            type: .memberJoined,
            timestamp: testNow,
            channel: Self.general,
            actor: alice,
            members: [Person(id: "bob", displayName: "Bob"), Person(id: "dave")]
        )
        let recipients = ["alice", "bob", "carol", "dave"].map { recipient($0) }
        let expansion = try expander().expand(pending(joined), page(recipients))
        #expect(expansion.groups.flatMap(\.targets).map(\.userID.rawValue) == ["carol"])
        #expect(expansion.groups.map(\.sent.push.notification.body) == ["Bob and 1 others have joined General"])
        #expect(expansion.event.tally.resolved == 1)
    }

    @Test func `each language is a group of its own, by the device's locale before the user's`() throws {
        let recipients = [
            recipient("bob", locale: "id"), recipient("carol", locale: "en", deviceLocale: "id-ID"),
            recipient("dave", locale: "xx"),
        ]
        let expansion = try expander().expand(pending(message()), page(recipients))
        let byLocale = Dictionary(uniqueKeysWithValues: expansion.groups.map { ($0.sent.push.notification.locale, $0) })
        #expect(byLocale["id"]?.targets.map(\.userID.rawValue) == ["bob", "carol"])
        #expect(byLocale["id"]?.sent.push.notification.title == "Alice @ General")
        #expect(byLocale["en"]?.targets.map(\.userID.rawValue) == ["dave"])
    }

    @Test(arguments: [(499, [499]), (500, [500]), (501, [500, 1]), (1200, [500, 500, 200])])
    func `a group holds at most 500 devices`(devices: Int, sizes: [Int]) throws {
        let expansion = try expander().expand(pending(message()), page([recipient("bob", devices: devices)]))
        #expect(expansion.groups.map(\.targets.count) == sizes)
        #expect(Set(expansion.groups.map(\.id)).count == sizes.count)
    }

    @Test func `lanes are apart from each other`() throws {
        var bob = recipient("bob")
        for (id, address) in [
            ("w-1", DeviceAddress.webhook(url: "https://a.example/hook")),
            ("w-2", .webhook(url: "https://b.example:8443/hook?x=1")),
            ("w-3", .webhook(url: "https://A.example/other")),
        ] {
            bob.devices.append(Device(DeviceID(trusted: id), of: bob.userID, address, at: testNow))
        }
        let expansion = try expander().expand(pending(message()), page([bob]))
        #expect(expansion.groups.map(\.lane.appID) == ["", "a.example", "b.example:8443"])
        #expect(expansion.groups.map(\.targets.count) == [1, 2, 1])
    }

    @Test func `pages add up, and the cursor moves`() throws {
        let expander = try expander()
        let bob = PageCursor.user(UserID(trusted: "bob"))
        let first = expander.expand(pending(message()), page([recipient("bob")], next: bob))
        #expect(first.event.cursor == bob)
        #expect(first.next == bob)
        let second = expander.expand(first.event, page([recipient("carol"), recipient("dave", devices: 0)]))
        #expect(second.event.tally.resolved == 3)
        #expect(second.event.tally.notified == 2)
        #expect(second.next == nil)
    }

    @Test func `a group carries only the mentions of its own users`() throws {
        let mentions: Set = [UserID(trusted: "bob"), UserID(trusted: "stranger")]
        let expansion = try expander().expand(
            pending(message(mentions: mentions)),
            page([recipient("bob"), recipient("carol")])
        )
        #expect(expansion.groups.map(\.cause.mentions) == [[UserID(trusted: "bob")]])
    }

    @Test func `an event without what its type must carry is done with nobody notified`() throws {
        var event = message()
        event.message = nil
        let expansion = try expander().expand(pending(event), page([recipient("bob")]))
        #expect(expansion.groups.isEmpty)
        #expect(expansion.event.tally == RecipientTally())
        #expect(expansion.next == nil)
    }
}
