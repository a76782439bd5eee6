import CarillonCore
import CarillonTesting
import Testing

/// What is promised of groups that are not of the most usual kind.
extension DeliveryQueueTests {
    @Test func `a group lives as long as its content says`() async throws {
        let target = try await scene.target("d", of: "b")
        var event = try await scene.pending(.message("c", from: Person(id: "a")))
        event.receivedAt = event.receivedAt - .seconds(120)
        let groups = [60, 600].map { seconds in
            var group = scene.group(event, to: [target])
            group.sent.push.content = PushContent(timeToLive: seconds)
            return group
        }
        #expect(try await scene.queue.enqueue([Expansion(event: event, groups: groups, next: nil)]) == [true])
        #expect(try await scene.queue.claimExpired(limit: 9).map(\.group.id) == [groups[0].id])
        #expect(try await scene.claim().map(\.group.id) == [groups[1].id])
    }

    @Test func `a group may belong to no channel`() async throws {
        let target = try await scene.target("d", of: "b")
        _ = try await scene.toggles.set(.user("b"), ["enabled": false], in: scene.network)
        let event = try await scene.pending(.message("c", from: Person(id: "a")))
        var group = scene.group(event, to: [target])
        group.cause.channel = nil
        group.cause.messageID = "m \"1\""
        #expect(try await scene.queue.enqueue([Expansion(event: event, groups: [group], next: nil)]) == [true])
        let claimed = try #require(try await scene.claim().first)
        #expect(claimed.group.cause == group.cause)
        #expect(claimed.group.targets.map(\.deviceID) == ["d"])
        #expect(claimed.settings["b"]?.user.enabled == false)
    }

    @Test func `of a device that nobody owns only the network is asked`() async throws {
        let mine = try await scene.target("mine", of: .nobody)
        let taken = try await scene.target("taken", of: .nobody)
        _ = try await scene.toggles.set(.network, ["modules": ["chat": ["enabled": false]]], in: scene.network)
        let event = try await scene.pending(.message("c", from: Person(id: "a")))
        let group = scene.group(event, to: [mine, taken])
        #expect(try await scene.queue.enqueue([Expansion(event: event, groups: [group], next: nil)]) == [true])
        _ = try await scene.target("taken", of: "b")
        let claimed = try #require(try await scene.claim().first)
        #expect(claimed.group.targets.map(\.deviceID) == ["mine"])
        #expect(claimed.group.targets.map(\.userID) == [.nobody])
        #expect(claimed.gone.map(\.deviceID) == ["taken"])
        #expect(claimed.settings[.nobody] ?? ToggleSettings() == ToggleSettings())
        #expect(claimed.networkToggles.disabledModules == [.chat])
    }
}
