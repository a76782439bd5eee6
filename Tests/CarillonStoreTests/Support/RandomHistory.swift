@testable import CarillonCore
import CarillonTesting
import Foundation

/// A network in which a few people and channels have lived through all that can happen to them, by a seed.
struct RandomHistory: CustomStringConvertible {
    static let users = ["a", "b", "c", "d", "e", "f"].map { UserID(trusted: $0) }
    private static let channels = ["c1", "c2"].map { ChannelID(trusted: $0) }
    private static let locales: [String?] = [nil, "en", "id", "th"]

    let network: NetworkID
    private let scene: StoreScene
    private let seed: UInt64
    private var random: SplitMix
    private var count = 0

    init(seed: UInt64, network: String, scene: StoreScene) {
        self.seed = seed
        self.network = NetworkID(trusted: network)
        self.scene = scene
        random = SplitMix(state: seed)
    }

    var description: String { "seed \(seed)" }

    /// Founds the network and lets things happen in it.
    mutating func live() async throws {
        let founded = Network(id: network, createdAt: WallClock.system.now())
        try await scene.accounts.createNetwork(founded)
        for _ in 0..<20 { try await step() }
    }

    /// An event that tells people something.
    mutating func event() -> Event {
        var event = self.event(
            one([.messageSent, .messageSent, .memberJoined, .channelCreated, .notificationDirect, .notificationDirect])
        )
        if chance(0.3) { event.timestamp = event.timestamp - .seconds(60) }
        // Who is meant by a notification is said otherwise.
        if chance(0.2), event.type != .notificationDirect { event.visibleTo = Set(users()) }
        event.isSilent = chance(0.1)
        event.mentionsAll = event.type == .messageSent && chance(0.2)
        return event
    }

    private mutating func step() async throws {
        switch Int.random(in: 0..<17, using: &random) {
        case 0...5:
            let type: EventType = one([
                .channelCreated, .memberJoined, .memberLeft, .channelDeleted, .userDeleted, .userUpdated, .messageSent,
            ])
            _ = try await scene.inbox.accept([scene.incoming(event(type), in: network)])
        case 6: _ = try await scene.directory.addMember(user(), to: channel(), in: network)
        case 7: _ = try await scene.directory.removeMember(user(), from: channel(), in: network)
        case 8: try await scene.directory.replaceMembers(of: channel(), with: users(), in: network)
        case 9:
            if chance(0.5) {
                _ = try await scene.directory.deleteUser(user(), in: network)
            } else {
                _ = try await scene.directory.deleteChannel(channel(), in: network)
            }
        case 10...11:
            var device = Device(
                id: device(),
                userID: user(),
                address: one([.log, .fcm(token: "token \(count)", appID: "app")]),
                locale: one(Self.locales),
                registeredAt: WallClock.system.now(),
                broadcasts: chance(0.7)
            )
            device.state = one([.active, .active, .active, .quarantined, .unregistered])
            count += 1
            _ = try await scene.devices.putDevice(device, in: network, by: .admin)
        case 12...13:
            let subscriber: Subscriber = chance(0.5) ? .user(user()) : .device(device())
            _ = try await scene.tags.subscribe(subscriber, to: tag(), in: network, ifOwnedBy: nil, by: .admin)
        case 14:
            let subscriber: Subscriber = chance(0.5) ? .user(user()) : .device(device())
            try await scene.tags.unsubscribe(subscriber, from: tag(), in: network, ifOwnedBy: nil)
        default: try await set()
        }
    }

    private mutating func set() async throws {
        let (scope, document): (ToggleScope, JSONValue)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            (scope, document) = (
                .network,
                one([
                    ["events": ["member.joined": ["enabled": false]]], ["events": ["message.sent": ["enabled": false]]],
                    ["modules": ["direct": ["enabled": false]]], [:],
                ])
            )
        case 1...2: (scope, document) = (.user(user()), userDocument())
        default:
            scope = .channel(user(), channel())
            document = one([
                ["enabled": false], ["mentionsOnly": true], ["mutedUntil": "2999-01-01T00:00:00Z"],
                ["mutedUntil": "2001-01-01T00:00:00Z"], [:],
            ])
        }
        let new = document
        try await scene.toggles.set(scope, to: new, in: network)
    }

    private mutating func userDocument() -> JSONValue {
        // Far from both ends, however long the test takes.
        let hour = Int(WallClock.system.now().milliseconds / 3_600_000 % 24)
        func quiet(from first: Int, to last: Int) -> JSONValue {
            let text = { (hour: Int) in JSONValue.string(String(format: "%02d:30", hour % 24)) }
            return ["quietHours": ["from": text(first), "to": text(last), "timeZone": "UTC"]]
        }
        return one([
            ["enabled": false], ["modules": ["chat": ["roles": ["only": ["moderator"]]]]],
            ["modules": ["chat": ["roles": ["except": ["guest"]]]]], quiet(from: hour + 22, to: hour + 3),
            quiet(from: hour + 8, to: hour + 16), [:],
        ])
    }

    private mutating func event(_ type: EventType) -> Event {
        count += 1
        var event = Event(sourceID: "e\(count)", type: type, timestamp: WallClock.system.now())
        if type != .userDeleted, type != .userUpdated {
            event.channel = Channel(id: channel(), displayName: chance(0.3) ? "Name \(count)" : nil)
            event.channel?.isDirect = one([nil, nil, true, false])
            event.channel?.fallbackName = one([nil, nil, nil, "", "Alias"])
            if chance(0.1) { event.channel?.displayName = "" }
        }
        switch type {
        case .messageSent:
            event.actor = person()
            event.message = Message(id: "m\(count % 5)", kind: one([.text, .image]), text: "Hello \(count)")
            event.hiddenFrom = chance(0.2) ? Set(users()) : []
            event.mentions = Set(users())
            if chance(0.3) { for user in users() { event.members.append(person(user)) } }
        case .messageDeleted: event.message = Message(id: "m\(count % 5)", kind: .other, text: "")
        case .channelInvited:
            event.actor = person()
            event.invited = [person()]
        case .userDeleted, .userUpdated: event.actor = person()
        case .channelCreated, .memberJoined, .memberLeft:
            event.actor = chance(0.5) ? person() : nil
            for user in users() { event.members.append(person(user)) }
            if event.members.isEmpty { event.members = [person()] }
        case .notificationDirect:
            event.channel = chance(0.5) ? event.channel : nil
            event.actor = chance(0.3) ? person() : nil
            event.direct = direct()
            if case .people(let users)? = event.direct?.audience { event.mentions = Set(users) }
            if event.channel == nil, case .members(let channel)? = event.direct?.audience {
                event.channel = Channel(id: channel)
            }
        default: break
        }
        return event
    }

    private mutating func direct() -> DirectNotification {
        DirectNotification(
            to: one([
                .people(users()), .devices([device(), device()]), .members(of: channel()), .tags([tag(), tag()]),
                .everyone,
                .everyone, .addresses([AddressedDevice(address: .fcm(token: "token 7", appID: "app"))]),
            ]),
            filter: one([
                DeviceFilter(), DeviceFilter(), DeviceFilter(providers: [.fcm]), DeviceFilter(appIDs: ["app"]),
                DeviceFilter(tag: tag()),
            ]),
            texts: DirectTexts(.init(title: "Title", body: "Body"), byLocale: [.english: .init(body: "Text")]),
            module: one([.direct, .direct, .chat, .video]),
            content: PushContent(kind: one([.alert, .silent]))
        )
    }

    private mutating func tag() -> TagID { one(["t1", "t2"].map { TagID(trusted: $0) }) }
    private mutating func device() -> DeviceID { DeviceID(trusted: "d\(Int.random(in: 0..<9, using: &random))") }
    private mutating func person() -> Person { person(user()) }

    private mutating func person(_ id: UserID) -> Person {
        Person(
            id: id,
            displayName: chance(0.3) ? "Name \(count)" : nil,
            locale: one(Self.locales),
            roles: one([nil, nil, ["moderator"], ["guest"], []])
        )
    }

    private mutating func user() -> UserID { one(Self.users) }
    private mutating func channel() -> ChannelID { one(Self.channels) }
    private mutating func users() -> [UserID] {
        var chosen: [UserID] = []
        for user in Self.users.shuffled(using: &random) where chance(0.4) { chosen.append(user) }
        return chosen
    }
    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
    private mutating func one<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int.random(in: choices.indices, using: &random)]
    }
}
