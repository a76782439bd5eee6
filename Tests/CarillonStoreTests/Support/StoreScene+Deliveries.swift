import CarillonCore
import CarillonTesting
import Foundation

extension StoreScene {
    /// Accepts an event that notifies and takes it out of the inbox.
    func pending(_ event: Event) async throws -> PendingEvent {
        let id = try await accept(event)[0]
        guard let pending = try await inbox.claimEvents(limit: 100).first(where: { $0.id == id }) else {
            throw UnexpectedAnswer()
        }
        return pending
    }

    func target(_ device: DeviceID, of user: UserID, app: String = "app") async throws -> Target {
        let device = Device(device, of: user, .fcm(token: "token-of-\(device)", appID: app), at: .seconds(0))
        _ = try await devices.putDevice(device, in: network)
        return Target(device)
    }

    func group(
        _ event: PendingEvent,
        to targets: [Target],
        app: String = "app",
        leased: Bool = false
    ) -> DeliveryGroup {
        var cause = DeliveryCause(
            eventID: event.id,
            eventType: event.event.type,
            channel: event.event.channel ?? Channel(id: "c"),
            message: event.event.messageKey,
            actorRoles: ["moderator"],
            mentions: event.event.mentions,
            mentionsAll: event.event.mentionsAll,
            receivedAt: event.receivedAt
        )
        cause.messageID = event.event.message?.id
        cause.senderID = event.event.actor?.id
        return DeliveryGroup(
            id: ids.next(),
            lane: Lane(networkID: event.networkID, provider: .fcm, appID: app),
            cause: cause,
            payload: .devices(DevicePush(Push(Self.notification))),
            targets: targets,
            leased: leased
        )
    }

    private static let notification = Notification(locale: "en", title: "Title \"1\"", body: "Body\nwith two lines")

    /// Content that says something in every way that is stored.
    static let content: PushContent = {
        var data = JSONObject()
        data["build"] = "81 \"é\""
        data["deep"] = ["list": [1, .null, "x"]]
        var payload = JSONObject()
        payload["aps"] = ["alert": ["$text": "body"], "badge": .null]
        return PushContent(
            kind: .mixed,
            data: data,
            badge: 3,
            sound: .none,
            category: "BUILD",
            threadID: "builds",
            collapseKey: "build-81",
            imageURL: "https://example.com/i.png",
            priority: .low,
            timeToLive: 172_800,
            isRetried: false,
            hasEnvelope: false,
            parts: [
                .apns: RawPart(kind: .silent, headers: ["apns-priority": "5"], payload: payload, replaces: true),
                .fcm: RawPart(payload: payload), .webpush: RawPart(),
            ]
        )
    }()

    /// Queues groups for a new event and answers its id. A former release did not count users' devices.
    @discardableResult
    func enqueue(
        to targets: [[Target]],
        app: String = "app",
        leased: Bool = false,
        in channel: ChannelID = "c",
        countsDevices: Bool = true
    ) async throws -> EventID {
        var event = try await pending(.message(channel, from: Person(id: "sender"), id: ids.next().uuidString))
        event.tally.resolved = Set(targets.joined().map(\.userID)).count
        event.tally.notified = event.tally.resolved
        let devices = Dictionary(grouping: targets.joined(), by: \.userID).mapValues(\.count).filter { $1 > 1 }
        let groups = targets.map { targets in
            var group = group(event, to: targets, app: app, leased: leased)
            group.sent.push.content = Self.content
            group.sent.deviceCounts = countsDevices ? devices : nil
            return group
        }
        guard try await queue.enqueue([Expansion(event: event, groups: groups, next: nil)]) == [true] else {
            throw UnexpectedAnswer()
        }
        return event.id
    }

    /// Claims everything that is due.
    func claim(limit: Int = 1000, perLane: Int = 1000) async throws -> [RefreshedGroup] {
        try await queue.claimGroups(limit: limit, limitPerLane: perLane, excluding: ClaimExclusions()).groups
    }

    func claimOne() async throws -> DeliveryGroup {
        let groups = try await claim()
        guard groups.count == 1 else { throw UnexpectedAnswer() }
        return groups[0].group
    }
}

extension Settlement {
    /// All targets of a group end in one state.
    static func all(
        _ group: DeliveryGroup,
        _ state: DeliveryState,
        reason: String? = nil,
        effect: DeviceEffect? = nil
    ) -> Settlement {
        let records = group.targets.map { $0.record(state, reason: reason, effect: effect) }
        return Settlement(group: group, records: records, remainders: [])
    }

    /// All targets failed and are tried again, at once unless a delay is given.
    static func failed(
        _ group: DeliveryGroup,
        _ trouble: String,
        attempt: Int? = nil,
        delay: Duration = .zero
    ) -> Settlement {
        Settlement(
            group: group,
            records: [],
            troubles: Dictionary(uniqueKeysWithValues: group.targets.map { ($0.deviceID, trouble) }),
            remainders: [Remainder(targets: group.targets, attempt: attempt ?? group.attempt + 1, delay: delay)]
        )
    }
}

extension Target {
    /// What became of it: delivered just now, at the first attempt.
    var deliveredNow: DeviceRecord {
        record(.delivered, at: WallClock.system.now())
    }
}
