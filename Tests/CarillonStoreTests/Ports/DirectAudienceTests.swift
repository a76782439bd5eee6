@testable import CarillonCore
import CarillonTesting
import Testing

/// What ``RecipientSource`` promises of direct notifications.
@Suite(.stores) struct DirectAudienceTests {
    let scene = StoreScene.here

    @Test func `named users count, known or not, once each`() async throws {
        try await scene.put(.log("d1", of: "a"), .log("d2", of: "a"), .log("d3", of: "c"))
        let page = try await scene.page(of: .direct(.people(["c", "a", "unknown"])))
        #expect(page.recipients.map(\.userID) == ["a", "c", "unknown"])
        #expect(page.recipients.map(\.devices.count) == [2, 1, 0])
        #expect(page.next == nil)
    }

    @Test func `named devices are their owners', or count by themselves`() async throws {
        try await scene.put(
            .log("a1", of: "a"),
            .log("a2", of: "a"),
            .log("a3", of: "a"),
            .log("free", of: .nobody),
            .log("gone", of: "b", state: .unregistered)
        )
        let page = try await scene.page(of: .direct(.devices(["free", "a2", "a1", "gone", "unknown"])))
        let devices = page.recipients.map { $0.devices.map(\.id.rawValue).sorted().joined(separator: ",") }
        #expect(devices.sorted() == ["", "", "a1,a2", "free"])
        #expect(Set(page.recipients.map(\.userID)) == ["a", .nobody])
    }

    @Test func `a channel's members are meant, as by a message`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a", "b"]))
        var event = Event.direct(.members(of: "c"))
        event.channel = Channel(id: "c")
        let id = try await scene.accept(event)[0]
        try await scene.accept(.members(.memberJoined, "c", ["late"], at: 2))
        let query = RecipientQuery(networkID: scene.network, eventID: id, event: event)
        #expect(try await scene.recipients.page(for: query).recipients.map(\.userID) == ["a", "b"])
    }

    @Test func `who subscribes to one of several tags counts once`() async throws {
        try await scene.put(
            .log("a1", of: "a"),
            .log("a2", of: "a"),
            .log("b1", of: "b"),
            .log("b2", of: "b"),
            .log("b3", of: "b"),
            .log("free", of: .nobody),
            .log("other", of: .nobody)
        )
        try await scene.subscribe([.user("a"), .user("poor"), .device("a1"), .device("b2"), .device("free")], to: "t1")
        try await scene.subscribe([.user("a"), .device("b3"), .device("b2"), .device("free")], to: "t2")
        try await scene.subscribe([.device("b1"), .device("other")], to: "t3")
        let page = try await scene.page(of: .direct(.tags(["t1", "t2"])))
        #expect(page.next == nil)
        let found = page.recipients.map { person in
            "\(person.userID):\(person.devices.map(\.id.rawValue).sorted().joined(separator: ","))"
        }
        #expect(found.sorted() == [":free", "a:a1,a2", "b:b2,b3", "poor:"])
    }

    @Test func `who subscribes after it was accepted is not meant`() async throws {
        try await scene.put(.log("a1", of: "a"), .log("b1", of: "b"), .log("c1", of: "c"), .log("free", of: .nobody))
        try await scene.subscribe([.user("a"), .device("c1")], to: "t")
        let event = Event.direct(.tags(["t"]))
        let id = try await scene.accept(event)[0]
        try await scene.subscribe([.user("b"), .user("c"), .device("free")], to: "t")
        let query = RecipientQuery(networkID: scene.network, eventID: id, event: event)
        #expect(Set(try await scene.recipients.page(for: query).recipients.map(\.userID)) == ["a", "c"])
        #expect(try await scene.page(of: event).recipients.count == 4)
    }

    @Test func `everyone is who has a device that takes part, and what nobody owns`() async throws {
        var silent = Device.log("a2", of: "a")
        silent.broadcasts = false
        var left = Device.log("b1", of: "b")
        left.broadcasts = false
        try await scene.put(
            .log("a1", of: "a"),
            silent,
            left,
            .log("c1", of: "c", state: .quarantined),
            .log("free", of: .nobody)
        )
        try await scene.accept(.created("c", by: nil, members: ["deviceless"]))
        let address = AddressedDevice(address: .fcm(token: "unregistered", appID: "app"))
        _ = try await scene.page(of: .direct(.addresses([address])))
        let page = try await scene.page(of: .direct(.everyone))
        #expect(page.recipients.map(\.userID) == ["a", .nobody])
        #expect(page.recipients.map { $0.devices.map(\.id) } == [["a1"], ["free"]])
        #expect(page.next == nil)
    }

    @Test func `a large audience comes in pages, each once`() async throws {
        let users = (0..<(firstRecipientPageSize + 200)).map { DeviceID(trusted: "u\(10_000 + $0)") }
        let ownerless = (0..<(firstRecipientPageSize + 100)).map { DeviceID(trusted: "f\(10_000 + $0)") }
        try await scene.put(users.map { .log($0, of: "user-\($0)") } + ownerless.map { .log($0, of: .nobody) })
        var silent = (0..<40).map { Device.log(DeviceID(trusted: "f\(10_000 + $0 * 50)-silent"), of: .nobody) }
        for index in silent.indices { silent[index].broadcasts = false }
        try await scene.put(silent)
        let found = try await scene.allDevices(of: .direct(.everyone))
        #expect(found.count == users.count + ownerless.count)
        #expect(Set(found) == Set(users + ownerless))
    }

    @Test func `many subscribers come in pages, each once`() async throws {
        let owned = (0..<(firstRecipientPageSize + 200)).map { DeviceID(trusted: "u\(10_000 + $0)") }
        let ownerless = (0..<(firstRecipientPageSize + 100)).map { DeviceID(trusted: "f\(10_000 + $0)") }
        try await scene.put(owned.map { .log($0, of: "user-\($0)") } + ownerless.map { .log($0, of: .nobody) })
        // Devices that are out of use stand between the others.
        let dead = (0..<40).map { DeviceID(trusted: "f\(10_000 + $0 * 50)-dead") }
        try await scene.put(dead.map { .log($0, of: .nobody, state: .unregistered) })
        try await scene.subscribe(dead.map { .device($0) }, to: "t")
        try await scene.subscribe(owned.map { .user(UserID(trusted: "user-\($0)")) }, to: "t")
        try await scene.subscribe((ownerless + owned.prefix(300)).map { .device($0) }, to: "t")
        let found = try await scene.allDevices(of: .direct(.tags(["t"])))
        #expect(found.count == owned.count + ownerless.count)
        #expect(Set(found) == Set(owned + ownerless))
    }

    @Test func `a filter leaves only the devices that it admits`() async throws {
        let phone = Device("phone", of: "a", .fcm(token: "phone", appID: "app"), at: .seconds(0))
        try await scene.put(phone, .log("a1", of: "a"), .log("b1", of: "b"), .log("free", of: .nobody))
        try await scene.subscribe([.user("b"), .device("phone"), .device("free")], to: "beta")
        func devices(_ audience: Audience, _ filter: DeviceFilter) async throws -> [[DeviceID]] {
            try await scene.page(of: .direct(audience, filter)).recipients.map { $0.devices.map(\.id) }
        }
        let people = Audience.people(["a", "b"])
        #expect(try await devices(people, DeviceFilter(providers: [.fcm])) == [["phone"], []])
        #expect(try await devices(people, DeviceFilter(appIDs: ["app"])) == [["phone"], []])
        #expect(try await devices(people, DeviceFilter(tag: "beta")) == [["phone"], ["b1"]])
        #expect(try await devices(people, DeviceFilter(providers: [.log], tag: "beta")) == [[], ["b1"]])
        #expect(try await devices(.everyone, DeviceFilter(providers: [.fcm])) == [["phone"]])
        #expect(try await devices(.everyone, DeviceFilter(tag: "beta")) == [["phone"], ["b1"], ["free"]])
    }

    @Test func `an address reaches its device, or one that is added for it`() async throws {
        let phone = Device("phone", of: "a", .fcm(token: "known", appID: "app"), at: .seconds(0))
        try await scene.put(phone)
        let known = AddressedDevice(address: .fcm(token: "known", appID: "other"))
        let new = AddressedDevice(address: .apns(token: "ab", appID: "app", environment: .sandbox), locale: "th")
        let line = AddressedDevice(address: .log)
        let event = Event.direct(.addresses([known, new, line]))
        for _ in 0..<2 {
            let page = try await scene.page(of: event)
            #expect(Set(page.recipients.map(\.userID)) == ["a", .nobody])
            let devices = page.recipients.flatMap(\.devices)
            #expect(devices.count == 3)
            #expect(devices.contains { $0.id == "phone" && $0.address == phone.address })
            let added = try #require(devices.first { $0.address == new.address })
            #expect(added.id == DeviceID(reachedAt: new.address))
            #expect(added.locale == "th")
            #expect(added.error == "not delivered to yet")
        }
        let registered = Device("mine", of: "b", new.address, at: .seconds(1))
        try await scene.put(registered)
        let page = try await scene.page(of: .direct(.addresses([new])))
        #expect(page.recipients.map(\.userID) == ["b"])
        #expect(page.recipients.first?.devices.map(\.id) == ["mine"])
    }

    @Test func `a device that several addresses name is one, as the first says`() async throws {
        let token = { (text: String, environment: DeviceAddress.APNsEnvironment, locale: String?) in
            AddressedDevice(address: .apns(token: text, appID: "app", environment: environment), locale: locale)
        }
        let named = [
            token("ab", .production, "th"), token("ab", .sandbox, "th"), token("AB", .production, "th"),
            token("ab", .production, "id"),
        ]
        for _ in 0..<2 {
            let page = try await scene.page(of: .direct(.addresses(named)))
            let devices = page.recipients.flatMap(\.devices)
            #expect(devices.map(\.id) == [DeviceID(reachedAt: named[0].address)])
            #expect(devices.map(\.address) == [named[0].address])
            #expect(devices.map(\.locale) == ["th"])
        }
        try await scene.put(Device("mine", of: "b", named[0].address, at: .seconds(1)))
        let page = try await scene.page(of: .direct(.addresses(named)))
        #expect(page.recipients.map { $0.devices.map(\.id) } == [["mine"]])
    }

    @Test func `the settings for the channel that it belongs to are found`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a"]))
        try await scene.put(.log("d", of: "a"), .log("e", of: "b"))
        _ = try await scene.toggles.set(.channel("a", "c"), ["mentionsOnly": true], in: scene.network)
        _ = try await scene.toggles.set(.user("b"), ["enabled": false], in: scene.network)
        try await scene.subscribe([.user("a"), .device("e")], to: "t")
        for audience in [Audience.everyone, .devices(["d", "e"]), .people(["a", "b"]), .tags(["t"])] {
            var event = Event.direct(audience)
            let without = try await scene.page(of: event)
            #expect(without.recipients.map(\.settings.channel.mentionsOnly) == [false, false], "\(audience)")
            event.channel = Channel(id: "c")
            let with = try await scene.page(of: event)
            #expect(with.recipients.map(\.settings.channel.mentionsOnly) == [true, false], "\(audience)")
            #expect(with.recipients.map(\.settings.user.enabled) == [true, false], "\(audience)")
        }
    }

    @Test func `the members of one channel are asked what they set for the channel that it belongs to`() async throws {
        try await scene.accept(.created("told", by: nil, members: ["a", "b", "c"]))
        try await scene.accept(.created("context", by: nil, members: ["b", "stranger"]))
        for (user, channel) in [("a", "told"), ("b", "context"), ("stranger", "context")] as [(UserID, ChannelID)] {
            _ = try await scene.toggles.set(.channel(user, channel), ["mentionsOnly": true], in: scene.network)
        }
        var event = Event.direct(.members(of: "told"))
        event.channel = Channel(id: "context")
        let alone = try await scene.page(of: event)
        #expect(alone.recipients.map(\.userID) == ["a", "b", "c"])
        #expect(alone.recipients.map(\.settings.channel.mentionsOnly) == [false, true, false])
        var usual = event
        usual.channel = Channel(id: "told")
        let together = try await scene.recipients.recipients(
            for: [usual, event].map {
                RecipientQuery(networkID: scene.network, eventID: EventID(scene.ids.next()), event: $0)
            }
        )
        #expect(together.map { $0.recipients.map(\.userID) } == [["a", "b", "c"], ["a", "b", "c"]])
        #expect(together[0].recipients.map(\.settings.channel.mentionsOnly) == [true, false, false])
        #expect(together[1].recipients.map(\.settings.channel.mentionsOnly) == [false, true, false])
        let further = RecipientQuery(event, in: scene.network, after: .user("a"))
        let rest = try await scene.recipients.page(for: further)
        #expect(rest.recipients.map(\.userID) == ["b", "c"])
        #expect(rest.recipients.map(\.settings.channel.mentionsOnly) == [true, false])
        // What was set for a channel ends with it.
        #expect(try await scene.directory.deleteChannel("context", in: scene.network))
        let later = try await scene.page(of: event)
        #expect(later.recipients.map(\.userID) == ["a", "b", "c"])
        #expect(later.recipients.map(\.settings.channel.mentionsOnly) == [false, false, false])
    }

    @Test func `who is asked for is a member of the channel that is told, and not of the one that it belongs to`()
        async throws
    {
        try await scene.accept(.created("told", by: nil, members: ["a", "b"]))
        try await scene.accept(.created("context", by: nil, members: ["b", "stranger"]))
        for (user, channel) in [("a", "told"), ("b", "context")] as [(UserID, ChannelID)] {
            _ = try await scene.toggles.set(.channel(user, channel), ["mentionsOnly": true], in: scene.network)
        }
        var event = Event.direct(.members(of: "told"))
        event.channel = Channel(id: "context")
        let asked: Set<UserID> = ["a", "b", "stranger"]
        let page = try await scene.recipients.page(
            for: RecipientQuery(networkID: scene.network, prospect: event, only: asked)
        )
        #expect(page.recipients.map(\.userID) == ["a", "b"])
        #expect(page.recipients.map(\.settings.channel.mentionsOnly) == [false, true])
        #expect(page.others.map(\.userID) == ["stranger"])
    }

    @Test func `the last look, too, asks what is set for the channel that it belongs to`() async throws {
        try await scene.accept(.created("told", by: nil, members: ["a", "b"]))
        var event = Event.direct(.members(of: "told"))
        event.channel = Channel(id: "context")
        let targets = [try await scene.target("d1", of: "a"), try await scene.target("d2", of: "b")]
        let group = scene.group(try await scene.pending(event), to: targets)
        for (user, channel) in [("a", "told"), ("b", "context")] as [(UserID, ChannelID)] {
            _ = try await scene.toggles.set(.channel(user, channel), ["mentionsOnly": true], in: scene.network)
        }
        let refreshed = try #require(try await scene.queue.refresh([group]).first)
        #expect(refreshed.settings["a"]?.channel.mentionsOnly != true)
        #expect(refreshed.settings["b"]?.channel.mentionsOnly == true)
    }

    @Test func `the audience of another network is not found`() async throws {
        try await scene.put(.log("d", of: "a"), .log("free", of: .nobody))
        try await scene.subscribe([.user("a"), .device("free")], to: "t")
        for audience in [Audience.everyone, .devices(["d", "free"]), .people(["a"]), .tags(["t"])] {
            let query = RecipientQuery(.direct(audience), in: scene.otherNetwork)
            let page = try await scene.recipients.page(for: query)
            #expect(page.recipients.flatMap(\.devices) == [], "\(audience)")
        }
    }

    @Test func `who is asked for is answered with the devices that it is meant for`() async throws {
        try await scene.put(.log("a1", of: "a"), .log("a2", of: "a"), .log("b1", of: "b"))
        try await scene.subscribe([.device("a2")], to: "t")
        func asked(_ audience: Audience) async throws -> RecipientPage {
            let query = RecipientQuery(networkID: scene.network, prospect: .direct(audience), only: ["a", "b"])
            return try await scene.recipients.page(for: query)
        }
        let tagged = try await asked(.tags(["t"]))
        #expect(tagged.recipients.map { $0.devices.map(\.id) } == [["a2"]])
        #expect(tagged.others.map(\.userID) == ["b"])
        let named = try await asked(.people(["b"]))
        #expect(named.recipients.map(\.userID) == ["b"])
        #expect(named.others.map(\.userID) == ["a"])
    }
}

extension Event {
    /// A direct notification of some audience.
    static func direct(_ audience: Audience, _ filter: DeviceFilter = DeviceFilter()) -> Event {
        Event(
            sourceID: "direct-\(audience)-\(filter)",
            type: .notificationDirect,
            timestamp: .seconds(0),
            direct: DirectNotification(
                to: audience,
                filter: filter,
                texts: DirectTexts(DirectTexts.Text(title: "Title"))
            )
        )
    }
}

extension StoreScene {
    fileprivate func put(_ devices: Device...) async throws { try await put(devices) }

    fileprivate func put(_ devices: [Device]) async throws {
        for device in devices { _ = try await self.devices.putDevice(device, in: network) }
    }

    fileprivate func subscribe(_ subscribers: [Subscriber], to tag: TagID) async throws {
        for subscriber in subscribers {
            _ = try await tags.subscribe(subscriber, to: tag, in: network, ifOwnedBy: nil, by: .admin)
        }
    }

    /// The devices on all pages of an event's recipients.
    fileprivate func allDevices(of event: Event) async throws -> [DeviceID] {
        var query = RecipientQuery(networkID: network, eventID: EventID(ids.next()), event: event)
        var devices: [DeviceID] = []
        repeat {
            let page = try await recipients.page(for: query)
            devices += page.recipients.flatMap(\.devices).map(\.id)
            query.after = page.next
        } while query.after != nil
        return devices
    }
}
