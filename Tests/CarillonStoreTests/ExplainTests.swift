import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// What explain says of an event is what becomes of it.
@Suite(.stores) struct ExplainTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `explain says of anybody what the fan-out does`() async throws {
        var verdicts: Set<Explanation.Stage?> = []
        for seed in 0..<100 {
            var history = RandomHistory(seed: UInt64(seed), network: "n\(seed)", scene: scene)
            try await history.live()
            for _ in 0..<2 { verdicts.formUnion(try await check(history.event(), in: history, of: scene)) }
        }
        // All that can be said was said.
        #expect(verdicts.count == 8, "\(verdicts)")
    }

    @Test func `who is told nothing because the channel has no name is told that, and not that they are no member`()
        async throws
    {
        let event = Event(
            sourceID: "e",
            type: .channelCreated,
            timestamp: WallClock.system.now(),
            channel: Channel(id: "c", displayName: ""),
            actor: Person(id: "z"),
            members: [Person(id: "a")]
        )
        let explainer = try self.explainer(scene)
        let member = try await explainer.explain(event, to: "a", in: scene.network)
        #expect(member.decidedBy == .event)
        #expect(member.reason == WhyNobody.noName.sentence)
        #expect(member.notification == nil)
        #expect(try await explainer.explain(event, to: "b", in: scene.network).decidedBy == .notMember)
        #expect(try await explainer.explain(event, to: "z", in: scene.network).decidedBy == .actor)
    }

    @Test func `explaining who would be a member by an event changes nothing`() async throws {
        let event = Event(
            sourceID: "e",
            type: .channelCreated,
            timestamp: WallClock.system.now(),
            channel: Channel(id: "c", displayName: "General"),
            actor: Person(id: "z", displayName: "Zoe"),
            members: [Person(id: "a", locale: "id")]
        )
        let explanation = try await explainer(scene).explain(event, to: "a", in: scene.network)
        #expect(explanation.decidedBy == .noDevice)
        #expect(explanation.notification?.locale == "id")
        for table in ["users", "channels", "members", "event_keys", "inbox", "events", "changes"] {
            #expect(try await pool.count(table) == 0, "\(table)")
        }
    }

    /// Explains an event to everybody, lets it happen, and compares; answers the verdicts.
    private func check(
        _ event: Event,
        in history: RandomHistory,
        of scene: StoreScene
    ) async throws -> Set<Explanation.Stage?> {
        let (network, explainer) = (history.network, try explainer(scene))
        var explanations: [UserID: Explanation] = [:]
        for user in RandomHistory.users {
            explanations[user] = try await explainer.explain(event, to: user, in: network)
        }
        let incoming = scene.incoming(event, in: network)
        _ = try await scene.inbox.accept([incoming])
        let query = RecipientQuery(networkID: network, eventID: incoming.id, event: event)
        let pending = PendingEvent(
            networkID: network,
            id: incoming.id,
            receivedAt: incoming.receivedAt,
            event: event,
            leaseToken: 1
        )
        let page = try await scene.recipients.page(for: query)
        let expansion = Expander(catalog: try Self.catalog(), ids: scene.ids).expand(pending, page)
        var devices: [UserID: Set<DeviceID>] = [:]
        var notifications: [DeviceID: CarillonCore.Notification] = [:]
        for group in expansion.groups {
            for target in group.targets {
                devices[target.userID, default: []].insert(target.deviceID)
                notifications[target.deviceID] = group.sent.push.notification
            }
        }
        let place = "\(history.description), \(event)"
        var tally = RecipientTally()
        for (user, explanation) in explanations {
            switch explanation.decidedBy {
            case nil:
                tally.notified += 1
                #expect(devices[user] == Set(explanation.devices.map(\.id)), "\(user) \(place)")
                let first = explanation.devices.first.flatMap { notifications[$0.id] }
                #expect(first == explanation.notification, "\(user) \(place)")
            case .actor, .notMember, .event: #expect(devices[user] == nil, "\(user) \(place)")
            case .network: tally.suppressed[.network, default: 0] += 1
            case .user: tally.suppressed[.user, default: 0] += 1
            case .channel: tally.suppressed[.channel, default: 0] += 1
            case .noDevice: tally.noDevice += 1
            }
            if explanation.decidedBy != nil { #expect(devices[user] == nil, "\(user) \(place)") }
        }
        tally.notified += devices[.nobody]?.count ?? 0
        #expect(tally.notified == expansion.event.tally.notified, "\(place)")
        // What is named and not there counts as somebody whom nobody can ask about.
        if !event.namesDevices { #expect(tally.noDevice == expansion.event.tally.noDevice, "\(place)") }
        for level in ToggleLevel.allCases where level != .network || !event.namesDevices {
            let count = expansion.event.tally.suppressed[level, default: 0]
            #expect(tally.suppressed[level, default: 0] == count, "\(place)")
        }
        return Set(explanations.values.map(\.decidedBy))
    }

    private func explainer(_ scene: StoreScene) throws -> Explainer {
        Explainer(recipients: scene.recipients, toggles: scene.toggles, catalog: try Self.catalog())
    }

    private static func catalog() throws -> TemplateCatalog {
        try TemplateCatalog(
            ["en", "id"].flatMap { language in
                let locale = try #require(LocaleTag(language))
                return [
                    try CompiledTemplate(
                        TemplateSource(title: "%s", body: .one("\(language) new: %s")),
                        for: .channelCreated,
                        locale: locale
                    ),
                    try CompiledTemplate(
                        TemplateSource(
                            title: "%1s",
                            body: .variants([.channel: "%1s asks to %2s", .direct: "%1s asks"])
                        ),
                        for: .channelInvited,
                        locale: locale
                    ),
                    try CompiledTemplate(
                        TemplateSource(
                            title: "%s",
                            body: .variants([.one: "\(language) %1s in %2s", .many: "\(language) %1s and %3s"])
                        ),
                        for: .memberJoined,
                        locale: locale
                    ),
                    try CompiledTemplate(
                        TemplateSource(
                            title: .variants([.channel: "%1s (%2s)", .direct: "%1s"]),
                            body: .variants([.text: "\(language) %s", .image: "Image", .other: "Other"])
                        ),
                        for: .messageSent,
                        locale: locale
                    ),
                ]
            }
        )
    }
}

extension Event {
    fileprivate var namesDevices: Bool {
        switch audience {
        case .addresses, .devices: true
        case .everyone, .members, .nobody, .people, .tags, .users: false
        }
    }
}
