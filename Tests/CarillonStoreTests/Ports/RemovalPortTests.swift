import CarillonCore
import CarillonTesting
import Testing

/// What removals of users and channels end, and that it does not come back with them, swept or not.
@Suite(.stores) struct RemovalPortTests {
    let scene = StoreScene.here

    @Test("a channel that comes back has neither its former members nor their toggles", arguments: SweepTime.allCases)
    func channelComesBack(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.join("a", "b", "e", to: "c")
        _ = try await scene.toggles.set(.channel("a", "c"), ["enabled": false], in: scene.network)
        #expect(try await scene.directory.deleteChannel("c", in: scene.network))
        try await sweep()
        #expect(try await scene.directory.putChannel(Channel(id: "c"), in: scene.network))
        #expect(try await scene.members(of: "c") == [])
        #expect(try await scene.directory.removeMember("b", from: "c", in: scene.network) == false)
        #expect(try await scene.directory.addMember("b", to: "c", in: scene.network))
        #expect(try await scene.directory.addMember("b", to: "c", in: scene.network) == false)
        try await sweep()
        #expect(try await scene.members(of: "c") == ["b"])
        #expect(try await scene.page(of: .message("c", from: Person(id: "z"), at: 9)).recipients.map(\.userID) == ["b"])
        let toggles = try await scene.toggles.toggles(for: "a", channel: "c", in: scene.network)
        #expect(toggles.channel.document == [:])
        #expect(toggles.channel.updatedAt == nil)
    }

    @Test(
        "a channel that an event removes and another one brings back has only who joins then",
        arguments: SweepTime.allCases
    )
    func channelOfEventsComesBack(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.accept(
            .created("c", by: nil, members: ["a", "b"], at: 1),
            .channel(.channelDeleted, Channel(id: "c"), at: 5)
        )
        _ = try await scene.toggles.set(.channel("a", "c"), ["enabled": false], in: scene.network)
        try await sweep()
        try await scene.accept(.members(.memberJoined, "c", ["e"], at: 6))
        #expect(try await scene.members(of: "c") == ["e"])
        let message = Event.message("c", from: Person(id: "z"), at: 9)
        #expect(try await scene.page(of: message).recipients.map(\.userID) == ["e"])
        try await scene.accept(.members(.memberJoined, "c", ["a"], at: 7))
        try await sweep()
        let recipients = try await scene.page(of: message).recipients
        #expect(recipients.map(\.userID) == ["a", "e"])
        #expect(recipients.first?.settings.channel != ChannelToggles())
    }

    @Test("a user who comes back has neither channels nor devices nor toggles of before", arguments: SweepTime.allCases)
    func userComesBack(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.join("a", "b", to: "c")
        _ = try await scene.devices.putDevice(.log("d1", of: "a"), in: scene.network)
        _ = try await scene.toggles.set(.user("a"), ["enabled": false], in: scene.network)
        _ = try await scene.toggles.set(.channel("a", "c"), ["enabled": false], in: scene.network)
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        try await sweep()
        #expect(try await scene.directory.putUser(Person(id: "a"), in: scene.network))
        #expect(try await scene.members(of: "c") == ["b"])
        #expect(try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 9).isEmpty)
        #expect(try await scene.devices.device("d1", in: scene.network) == nil)
        #expect(try await scene.directory.addMember("a", to: "c", in: scene.network))
        _ = try await scene.devices.putDevice(.log("d2", of: "a"), in: scene.network)
        try await sweep()
        let recipients = try await scene.page(of: .message("c", from: Person(id: "z"), at: 9)).recipients
        #expect(recipients.map(\.userID) == ["a", "b"])
        #expect(recipients.first?.devices.map(\.id) == ["d2"])
        #expect(recipients.first?.settings == ToggleSettings())
        #expect(try await scene.devices.putDevice(.log("d1", of: "a"), in: scene.network))
        #expect(try await scene.devices.device("d1", in: scene.network) != nil)
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        try await sweep()
        #expect(try await scene.devices.device("d1", in: scene.network) == nil)
    }

    @Test(
        "who joins at the moment of a removal is a member, and can leave at that moment",
        arguments: SweepTime.allCases
    )
    func joiningAtTheMoment(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.accept(
            .created("c", by: nil, members: ["a", "b"], at: 1),
            .channel(.channelDeleted, Channel(id: "c"), at: 5)
        )
        try await sweep()
        try await scene.accept(.members(.memberJoined, "c", ["a", "e"], at: 5))
        try await sweep()
        #expect(try await scene.members(of: "c") == ["a", "e"])
        try await scene.accept(.members(.memberLeft, "c", ["e"], at: 5))
        #expect(try await scene.members(of: "c") == ["a"])
        try await scene.acceptTogether(
            .user(.userDeleted, Person(id: "a"), at: 7),
            .members(.memberJoined, "c", ["a"], at: 7)
        )
        try await sweep()
        #expect(try await scene.members(of: "c") == ["a"])
    }

    @Test("a membership that is newer than a late removal outlives it", arguments: SweepTime.allCases)
    func newerMembershipOutlivesALateRemoval(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        // Naming the channel states nothing of it, so that a removal from before is news.
        try await scene.accept(
            .members(.memberJoined, "c", ["a"], at: 3),
            .members(.memberJoined, "c", ["b"], at: 7),
            .channel(.channelDeleted, Channel(id: "c"), at: 5)
        )
        try await sweep()
        try await scene.accept(.channel(.channelUpdated, Channel(id: "c", displayName: "C"), at: 8))
        #expect(try await scene.members(of: "c") == ["b"])
    }

    @Test("what was older than a removal does not come back when it is told late", arguments: SweepTime.allCases)
    func lateOlderEventsStayOut(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.accept(
            .created("c", by: nil, members: ["a"], at: 1),
            .channel(.channelDeleted, Channel(id: "c"), at: 5),
            .message("c", from: Person(id: "z"), at: 6, channelName: "C")
        )
        try await sweep()
        try await scene.accept(.members(.memberJoined, "c", ["a"], at: 4), .message("c", from: Person(id: "a"), at: 4))
        #expect(try await scene.members(of: "c") == ["z"])
    }

    @Test(
        "what a sender whose clock is ahead said before a removal by hand is ended by it",
        arguments: SweepTime.allCases
    )
    func removalsEndWhatIsAhead(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        var joining = Event.members(.memberJoined, "c", ["a", "b"], at: 1)
        joining.timestamp = WallClock.system.now() + .seconds(120)
        try await scene.accept(joining)
        joining.channel = Channel(id: "e")
        joining.sourceID += "e"
        try await scene.accept(joining)
        _ = try await scene.toggles.set(.channel("b", "c"), ["enabled": false], in: scene.network)
        #expect(try await scene.directory.deleteChannel("c", in: scene.network))
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        try await sweep()
        for channel in ["c", "e"] as [ChannelID] {
            var message = Event.message(channel, from: Person(id: "z"))
            message.timestamp = WallClock.system.now() + .seconds(1)
            let id = try await scene.accept(message)[0]
            let users = Set(try await scene.page(of: message, id).recipients.map(\.userID))
            let expected: Set<UserID> = channel == "c" ? [] : ["b"]
            #expect(users.subtracting(["z"]) == expected)
        }
        #expect(try await scene.toggles.toggles(.channel("b", "c"), in: scene.network).document == [:])
        #expect(try await scene.directory.putUser(Person(id: "a"), in: scene.network))
        #expect(try await scene.members(of: "c") == ["z"])
        #expect(try await scene.members(of: "e") == ["b", "z"])
        #expect(try await scene.directory.addMember("a", to: "c", in: scene.network))
        #expect(try await scene.members(of: "c") == ["a", "z"])
    }

    @Test("toggles that are set after a removal are kept, with the next version", arguments: SweepTime.allCases)
    func togglesAfterARemoval(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.join("a", to: "c")
        let scope = ToggleScope.channel("a", "c")
        let first = try await scene.toggles.set(scope, ["enabled": false], in: scene.network)
        #expect(try await scene.directory.deleteChannel("c", in: scene.network))
        try await sweep()
        let removed = try await scene.toggles.toggles(scope, in: scene.network)
        #expect(removed.document == [:])
        #expect(removed.version > first?.version ?? 0)
        let second = try await scene.toggles.set(scope, ["enabled": true], in: scene.network)
        #expect(second?.version == removed.version + 1)
        try await sweep()
        try await scene.join("a", to: "c")
        try await sweep()
        #expect(try await scene.toggles.toggles(scope, in: scene.network).document == ["enabled": true])
    }

    @Test("who is left out of new members keeps the toggles, who stays the beginning", arguments: SweepTime.allCases)
    func replacedMembers(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.join("a", "b", to: "c")
        _ = try await scene.toggles.set(.channel("a", "c"), ["enabled": false], in: scene.network)
        let event = Event.message("c", from: Person(id: "z"), at: 9)
        let id = try await scene.accept(event)[0]
        try await scene.directory.replaceMembers(of: "c", with: ["b", "e"], in: scene.network)
        try await sweep()
        #expect(try await scene.members(of: "c") == ["b", "e"])
        #expect(try await scene.toggles.toggles(.channel("a", "c"), in: scene.network).document == ["enabled": false])
        #expect(try await scene.page(of: event, id).recipients.map(\.userID) == ["b"])
        #expect(try await scene.directory.addMember("a", to: "c", in: scene.network))
        try await sweep()
        #expect(try await scene.page(of: event).recipients.map(\.userID) == ["a", "b", "e"])
        #expect(try await scene.toggles.toggles(.channel("a", "c"), in: scene.network).document == ["enabled": false])
    }

    @Test("what is sent to a user's former devices is taken back when they are removed", arguments: SweepTime.allCases)
    func formerDevicesAreNotSentTo(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        let targets = [try await scene.target("d1", of: "a"), try await scene.target("d2", of: "b")]
        _ = try await scene.enqueue(to: [targets])
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        try await sweep()
        _ = try await scene.directory.putUser(Person(id: "a"), in: scene.network)
        try await scene.passTime()
        let claimed = try await scene.claim()
        #expect(claimed.flatMap(\.group.targets).map(\.deviceID) == ["d2"])
        #expect(claimed.flatMap(\.gone).map(\.deviceID) == ["d1"])
    }
}

extension StoreScene {
    /// Makes users members.
    fileprivate func join(_ users: UserID..., to channel: ChannelID) async throws {
        for user in users { _ = try await directory.addMember(user, to: channel, in: network) }
    }
}
