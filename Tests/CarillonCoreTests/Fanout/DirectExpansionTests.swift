import CarillonTesting
import Testing

@testable import CarillonCore

/// Direct notifications through judging, rendering and grouping.
@Suite struct DirectExpansionTests {
    private func device(_ id: String, of user: UserID, _ address: DeviceAddress) -> Device {
        Device(DeviceID(trusted: id), of: user, address, at: testNow)
    }

    private let browser = DeviceAddress.webpush(endpoint: "https://push.example/1", p256dh: "p", auth: "a")
    private let phone = DeviceAddress.fcm(token: "t", appID: "app")

    private func expand(
        _ direct: DirectNotification,
        to recipients: [Recipient],
        actor: UserID? = nil,
        mentions: Set<UserID> = [],
        toggles: NetworkToggles = .init()
    ) throws -> Expansion {
        let event = Event(
            sourceID: "n",
            type: .notificationDirect,
            timestamp: testNow,
            actor: actor.map { Person(id: $0) },
            mentions: mentions,
            direct: direct
        )
        let pending = PendingEvent(event, at: testNow)
        let page = RecipientPage(
            settings: NetworkSettings(toggles: toggles, defaultLocale: nil, templates: .init()),
            names: DirectoryNames(),
            recipients: recipients,
            readPoint: ReadPoint("1:1:", moment: testNow)
        )
        return Expander(catalog: try sampleCatalog(), ids: UUIDv7Generator()).expand(pending, page)
    }

    @Test func `what goes beyond the text goes with it, and its module to the last look`() throws {
        let direct = DirectNotification(
            to: .everyone,
            texts: DirectTexts(.init(title: "Title")),
            module: .video,
            content: PushContent(badge: 3, timeToLive: 60)
        )
        let expansion = try expand(direct, to: [Recipient(userID: "bob", devices: [device("d", of: "bob", phone)])])
        let group = try #require(expansion.groups.first)
        #expect(group.sent.push.content == direct.content)
        #expect(group.cause.module == .video)
        #expect(group.cause.eventType == .notificationDirect)
        #expect(group.cause.channel == nil)
        #expect(group.expiresAt == testNow + .seconds(60))
    }

    @Test func `a device that nobody owns counts as somebody, each by itself`() throws {
        let devices = [device("d1", of: .nobody, phone), device("d2", of: .nobody, phone)]
        let direct = DirectNotification(to: .everyone, texts: DirectTexts(.init(title: "Title")))
        let expansion = try expand(direct, to: devices.map { Recipient(userID: .nobody, devices: [$0]) })
        #expect(expansion.event.tally.resolved == 2)
        #expect(expansion.event.tally.notified == 2)
        #expect(expansion.groups.flatMap(\.targets).map(\.deviceID) == ["d1", "d2"])
        #expect(expansion.groups.allSatisfy { $0.sent.deviceCounts == [:] })
    }

    @Test func `browsers get nothing that is silent, unless somebody wrote what`() throws {
        let recipient = Recipient(
            userID: "bob",
            devices: [device("b", of: "bob", browser), device("p", of: "bob", phone)]
        )
        let onlyBrowser = Recipient(userID: "carol", devices: [device("c", of: "carol", browser)])
        let silent = DirectNotification(to: .everyone, content: PushContent(kind: .silent))
        let expansion = try expand(silent, to: [recipient, onlyBrowser])
        #expect(expansion.groups.flatMap(\.targets).map(\.deviceID) == ["p"])
        #expect(expansion.event.tally.notified == 1)
        #expect(expansion.event.tally.noDevice == 1)
        let written = DirectNotification(
            to: .everyone,
            content: PushContent(kind: .silent, parts: [.webpush: RawPart()])
        )
        #expect(try expand(written, to: [recipient, onlyBrowser]).groups.flatMap(\.targets).count == 3)
    }

    @Test func `toggles are asked by the module, and by the type`() throws {
        let bob = Recipient(userID: "bob", devices: [device("d", of: "bob", phone)])
        func tally(_ module: Module, _ change: (inout NetworkToggles) -> Void) throws -> RecipientTally {
            var toggles = NetworkToggles()
            change(&toggles)
            let direct = DirectNotification(to: .everyone, texts: DirectTexts(.init(title: "x")), module: module)
            return try expand(direct, to: [bob], toggles: toggles).event.tally
        }
        #expect(try tally(.direct) { $0.disabledModules = [.chat] }.notified == 1)
        #expect(try tally(.direct) { $0.disabledModules = [.direct] }.suppressed == [.network: 1])
        #expect(try tally(.chat) { $0.disabledModules = [.chat] }.suppressed == [.network: 1])
        #expect(try tally(.social) { $0.disabledEvents = [.notificationDirect] }.suppressed == [.network: 1])
    }

    @Test func `whoever it is from gets nothing, and who is named counts as mentioned`() throws {
        var bob = Recipient(userID: "bob", devices: [device("d", of: "bob", phone)])
        bob.settings.channel.mentionsOnly = true
        let alice = Recipient(userID: "alice", devices: [device("a", of: "alice", phone)])
        let direct = DirectNotification(to: .people(["bob", "alice"]), texts: DirectTexts(.init(title: "x")))
        let unnamed = try expand(direct, to: [alice, bob], actor: "alice")
        #expect(unnamed.event.tally.suppressed == [.channel: 1])
        #expect(unnamed.event.tally.resolved == 1)
        let named = try expand(direct, to: [alice, bob], actor: "alice", mentions: ["bob", "alice"])
        #expect(named.groups.flatMap(\.targets).map(\.userID) == ["bob"])
    }

    @Test(
        arguments: [
            Audience.everyone, .tags(["t"]), .devices(["d"]),
            .addresses([AddressedDevice(address: .fcm(token: "t", appID: "app"))]),
        ],
        [DeviceFilter(), DeviceFilter(tag: "t")]
    )
    func `says whether nobody is known whom it is for, or only whoever it is from`(
        audience: Audience,
        filter: DeviceFilter
    ) throws {
        let direct = DirectNotification(to: audience, filter: filter, texts: DirectTexts(.init(title: "x")))
        let alice = Recipient(userID: "alice", devices: [device("a", of: "alice", phone)])
        let bob = Recipient(userID: "bob", devices: [device("b", of: "bob", phone)])
        #expect(try expand(direct, to: []).why == .noneKnown)
        #expect(try expand(direct, to: [], actor: "alice").why == .noneKnown)
        #expect(try expand(direct, to: [alice], actor: "alice").why == .onlyActor)
        #expect(try expand(direct, to: [alice, bob], actor: "alice").why == nil)
        #expect(try expand(direct, to: [bob]).why == nil)
    }

    @Test func `silent notifications and those without a text are nothing to ask about`() throws {
        let endpoint = Endpoint.sample("e-1", .intercepting, ["*"])
        func isAsked(_ direct: DirectNotification) -> Bool {
            let event = Event(sourceID: "n", type: .notificationDirect, timestamp: testNow, direct: direct)
            return [endpoint].interceptor(of: event) != nil
        }
        let texts = DirectTexts(.init(title: "Title"))
        #expect(isAsked(DirectNotification(to: .everyone, texts: texts)))
        #expect(isAsked(DirectNotification(to: .everyone, texts: texts, content: PushContent(kind: .mixed))))
        #expect(!isAsked(DirectNotification(to: .everyone, content: PushContent(kind: .silent))))
        #expect(!isAsked(DirectNotification(to: .everyone, content: PushContent(badge: 3))))
    }

    @Test func `a drop reaches devices that nobody owns, and where they are reached is told to nobody`() throws {
        let direct = DirectNotification(
            to: .addresses([AddressedDevice(address: phone)]),
            texts: DirectTexts(.init(title: "Title"))
        )
        let event = Event(sourceID: "n", type: .notificationDirect, timestamp: testNow, direct: direct)
        var pending = PendingEvent(event, at: testNow)
        let question = InterceptionQuestion(
            event: pending,
            endpoint: Endpoint.sample("e-1", .intercepting),
            terms: .init(),
            notification: Notification(locale: "en", title: "Title", body: ""),
            recipients: [],
            hasMoreRecipients: false
        )
        let body = try JSONValue(parsing: question.body(event.canonicalJSON.serialized, at: testNow))
        let to: JSONValue = ["deviceIds": [.string(DeviceID(reachedAt: phone).rawValue)]]
        #expect(body["data"]?["event"]?["data"]?["to"] == to)
        pending.verdict = Verdict(InterceptionReport(endpointID: "e-1", outcome: .answered, action: .drop))
        let page = RecipientPage(
            settings: NetworkSettings(toggles: .init(), defaultLocale: nil, templates: .init()),
            names: DirectoryNames(),
            recipients: [Recipient(userID: .nobody, devices: [device("t-1", of: .nobody, phone)])],
            readPoint: ReadPoint("1:1:", moment: testNow)
        )
        let expansion = Expander(catalog: try sampleCatalog(), ids: UUIDv7Generator()).expand(pending, page)
        #expect(expansion.groups.isEmpty && expansion.event.tally.intercepted == 1)
    }
}

/// What devices of Buzz's apps get of an event, beside what all get.
@Suite struct BuzzExpansionTests {
    private let names = DirectoryNames(people: ["bob": "Bob B."])

    private func event(_ type: EventType, actor: Person?, members: [Person] = []) -> Event {
        Event(
            sourceID: "e",
            type: type,
            timestamp: Timestamp(milliseconds: 0),
            channel: Channel(id: "general"),
            actor: actor,
            members: members,
            message: Message(kind: .text, text: "Hi")
        )
    }

    private static let cases: [(EventType, Person?, [Person], Int, String?)] = [
        (.messageSent, Person(id: "alice", displayName: "Alice"), [], 0, "Alice"),
        (.messageSent, Person(id: "bob"), [], 0, "Bob B."),
        (.messageSent, Person(id: "ali", displayName: "Ali\u{202E}ce\nPay"), [], 0, "Alice Pay"),
        (.messageSent, Person(id: "carol", displayName: "  "), [], 0, "carol"),
        (.channelCreated, Person(id: "eve"), [Person(id: "bob")], 1, "eve"),
        (.channelCreated, nil, [], 1, nil),
        (.memberJoined, nil, [Person(id: "bob")], 0, "Bob B."),
    ]

    @Test(arguments: cases.indices)
    func `each event has a number, a room, and a name where there is one`(index: Int) throws {
        let (type, actor, members, number, name) = Self.cases[index]
        let payload = try #require(BuzzPayload(event(type, actor: actor, members: members), names))
        var keys: JSONObject = ["notificationType": .number(JSONNumber(number)), "roomId": "general"]
        keys["userName"] = name.map(JSONValue.string)
        keys["content"] = ["$text": "body"]
        #expect(payload.added(to: nil, for: .apns)?.parts == [.apns: RawPart(payload: keys)])
        #expect(payload.added(to: nil, for: .fcm)?.parts == [.fcm: RawPart(payload: ["data": .object(keys)])])
        #expect(payload.added(to: nil, for: .webpush)?.parts.isEmpty == true)
    }

    @Test func `what no event of the chat caused is left as it was written`() {
        #expect(BuzzPayload(event(.notificationDirect, actor: nil), names) == nil)
    }

    @Test func `only devices of bound apps are meant, each by its own push service`() {
        let binding = FaceBinding(.buzz, "app", ["ios": ["appId": "ios.app"]], at: Timestamp(milliseconds: 0))
        let index = FaceIndex(FaceList(version: 1, bindings: [binding], keys: []))
        #expect(index.isBuzz(.apns, "ios.app", in: "acme") && index.isBuzz(.fcm, "app", in: "acme"))
        #expect(!index.isBuzz(.apns, "app", in: "acme") && !index.isBuzz(.fcm, "ios.app", in: "acme"))
        #expect(!index.isBuzz(.apns, "ios.app", in: "other") && !index.isBuzz(.webpush, "app", in: "acme"))
    }
}
