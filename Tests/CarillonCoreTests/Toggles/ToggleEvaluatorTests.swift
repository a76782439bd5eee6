import Testing

@testable import CarillonCore

@Suite struct ToggleEvaluatorTests {
    private let now = Timestamp(milliseconds: 1_763_632_800_000)  // 2025-11-20T10:00:00Z

    private func decide(
        _ type: EventType = .messageSent,
        roles: [String] = [],
        network: NetworkToggles = .init(),
        user: UserToggles = .init(),
        channel: ChannelToggles = .init(),
        mentioned: Bool = false
    ) -> Decision {
        ToggleEvaluator(network: network, question: ToggleQuestion(eventType: type, actorRoles: roles), now: now)
            .decide(ToggleSettings(user: user, channel: channel), mentioned: mentioned)
    }

    @Test(arguments: EventType.notifying)
    func `everything that is not set allows`(type: EventType) {
        #expect(decide(type) == .allow)
    }

    @Test(arguments: EventType.notifying, 0..<8)
    func `the first level that is off decides, in the order network, user, channel`(type: EventType, bits: Int) {
        var network = NetworkToggles()
        var user = UserToggles()
        var channel = ChannelToggles()
        network.enabled = bits & 1 == 0
        user.enabled = bits & 2 == 0
        channel.enabled = bits & 4 == 0
        let expected: Decision =
            switch bits {
            case 0: .allow
            case 1, 3, 5, 7: .forbid(.network, .enabled)
            case 2, 6: .forbid(.user, .enabled)
            default: .forbid(.channel, .enabled)
            }
        #expect(decide(type, network: network, user: user, channel: channel) == expected)
    }

    @Test(arguments: EventType.notifying)
    func `a network can switch off one event type and the chat module`(type: EventType) {
        var events = NetworkToggles()
        events.disabledEvents = [.memberJoined]
        #expect(decide(type, network: events) == (type == .memberJoined ? .forbid(.network, .event(type)) : .allow))
        var modules = NetworkToggles()
        modules.disabledModules = [.chat]
        #expect(decide(type, network: modules) == .forbid(.network, .module(.chat)))
        modules.disabledModules = [.social]
        #expect(decide(type, network: modules) == .allow)
    }

    @Test func `a user can switch off the chat module but not by way of another one`() {
        var user = UserToggles()
        user.modules[.chat] = .init()
        user.modules[.chat]?.enabled = false
        #expect(decide(user: user) == .forbid(.user, .module(.chat)))
        user.modules = [.social: user.modules[.chat] ?? .init()]
        #expect(decide(user: user) == .allow)
    }

    @Test(arguments: [
        (RoleFilter.only(["moderator"]), ["moderator"], true),
        (.only(["moderator"]), ["guest", "moderator"], true),
        (.only(["moderator"]), ["guest"], false),
        (.only(["moderator"]), [], false),
        (.only([]), ["moderator"], false),
        (.only([]), [], false),
        (.except(["bot"]), ["bot"], false),
        (.except(["bot"]), ["bot", "moderator"], false),
        (.except(["bot"]), [], true),
        (.except([]), ["bot"], true),
    ])
    func `roles are the actor's`(filter: RoleFilter, roles: [String], allows: Bool) {
        var user = UserToggles()
        user.modules[.chat] = .init()
        user.modules[.chat]?.roles = filter
        #expect(decide(roles: roles, user: user) == (allows ? .allow : .forbid(.user, .roles(.chat))))
    }

    @Test(arguments: [(-1, true), (0, true), (1, false), (86_400_000, false)])
    func `a mute ends at its time, for user and channel`(milliseconds: Int64, allows: Bool) {
        let end = Timestamp(milliseconds: now.milliseconds + milliseconds)
        var user = UserToggles()
        user.mutedUntil = end
        #expect(decide(user: user) == (allows ? .allow : .forbid(.user, .mutedUntil(end))))
        var channel = ChannelToggles()
        channel.mutedUntil = end
        #expect(decide(channel: channel) == (allows ? .allow : .forbid(.channel, .mutedUntil(end))))
    }

    @Test(arguments: EventType.notifying, [true, false])
    func `mentionsOnly lets only what names the user through`(type: EventType, mentioned: Bool) {
        var channel = ChannelToggles()
        channel.mentionsOnly = true
        let allows = (type == .messageSent || type == .notificationDirect) && mentioned
        #expect(
            decide(type, channel: channel, mentioned: mentioned) == (allows ? .allow : .forbid(.channel, .mentionsOnly))
        )
    }

    @Test func `a mention does not break through a channel that is off or muted`() {
        var channel = ChannelToggles()
        channel.mentionsOnly = true
        channel.mutedUntil = now + .seconds(60)
        #expect(decide(channel: channel, mentioned: true) == .forbid(.channel, .mutedUntil(now + .seconds(60))))
        channel.enabled = false
        #expect(decide(channel: channel, mentioned: true) == .forbid(.channel, .enabled))
    }

    @Test func `each level can be asked by itself`() {
        var channel = ChannelToggles()
        channel.enabled = false
        var network = NetworkToggles()
        network.enabled = false
        let question = ToggleQuestion(eventType: .messageSent, actorRoles: [])
        let evaluator = ToggleEvaluator(network: network, question: question, now: now)
        let settings = ToggleSettings(channel: channel)
        #expect(evaluator.objection(of: .network, settings, mentioned: false) == .enabled)
        #expect(evaluator.objection(of: .user, settings, mentioned: false) == nil)
        #expect(evaluator.objection(of: .channel, settings, mentioned: false) == .enabled)
    }

    @Test(arguments: [
        (ToggleReason.enabled, "enabled"),
        (.module(.chat), "modules.chat"),
        (.event(.memberJoined), "events.member.joined"),
        (.roles(.chat), "modules.chat.roles"),
        (.quietHours, "quietHours"),
        (.mutedUntil(Timestamp(milliseconds: 1_795_132_800_000)), "mutedUntil 2026-11-20T00:00:00.000Z"),
        (.mentionsOnly, "mentionsOnly"),
    ])
    func `a reason is the path of the field`(reason: ToggleReason, text: String) {
        #expect(reason.description == text)
    }
}
