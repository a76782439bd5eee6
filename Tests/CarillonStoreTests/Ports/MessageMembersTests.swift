import CarillonCore
import CarillonTesting
import Testing

/// What ``EventInbox`` and ``RecipientSource`` make of the people whom messages name.
@Suite(.stores) struct MessageMembersTests {
    let scene = StoreScene.here

    @Test func `who writes in a channel is a member of it`() async throws {
        try await scene.accept(.message("c", from: Person(id: "a"), at: 1), .message("c", from: Person(id: "b"), at: 2))
        #expect(try await scene.members(of: "c") == ["a", "b"])
        try await scene.accept(.message("c", from: Person(id: "a"), at: 3))
        #expect(try await scene.members(of: "c") == ["a", "b"])
    }

    @Test func `whom a message lists are members, and are told of it`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["old"]))
        let event = Event.message("c", from: Person(id: "z"), at: 1, members: ["a", "b", "z"])
        let id = try await scene.accept(event)[0]
        #expect(try await scene.members(of: "c") == ["a", "b", "old", "z"])
        try await scene.accept(.members(.memberJoined, "c", ["late"], at: 2))
        #expect(try await scene.told(of: event, id).subtracting(["z"]) == ["a", "b", "old"])
    }

    @Test func `a message describes whom it lists, by its time`() async throws {
        try await scene.accept(.user(.userUpdated, Person(id: "b", displayName: "Bob"), at: 5))
        var event = Event.message("c", from: Person(id: "z"), at: 4)
        event.members = [Person(id: "a", displayName: "Alice", locale: "th"), Person(id: "b", displayName: "Old")]
        try await scene.accept(event)
        #expect(
            try await scene.directory.user("a", in: scene.network)
                == Person(id: "a", displayName: "Alice", locale: "th")
        )
        #expect(try await scene.directory.user("b", in: scene.network)?.displayName == "Bob")
    }

    @Test func `a message takes nobody out`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a", "b"]),
            .message("c", from: Person(id: "a"), at: 1, members: ["d"])
        )
        #expect(try await scene.members(of: "c") == ["a", "b", "d"])
    }

    @Test func `an older message does not undo a newer leave, a newer one does`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a", "b"], at: 1),
            .members(.memberLeft, "c", ["a", "b"], at: 5),
            .message("c", from: Person(id: "a"), at: 4, members: ["b", "d"])
        )
        #expect(try await scene.members(of: "c") == ["d"])
        try await scene.accept(.message("c", from: Person(id: "a"), at: 6, members: ["b"]))
        #expect(try await scene.members(of: "c") == ["a", "b", "d"])
    }

    @Test func `an older message does not fill what an admin emptied`() async throws {
        var sent = Event.message("c", from: Person(id: "a"), members: ["b"])
        sent.timestamp = WallClock.system.now() - .seconds(60)
        for user in ["a", "b"] as [UserID] { _ = try await scene.directory.addMember(user, to: "c", in: scene.network) }
        _ = try await scene.directory.removeMember("a", from: "c", in: scene.network)
        try await scene.directory.replaceMembers(of: "c", with: [], in: scene.network)
        try await scene.accept(sent)
        #expect(try await scene.members(of: "c") == [])
        try await scene.accept(.channel(.channelDeleted, Channel(id: "d"), at: 5), .message("d", from: Person(id: "a")))
        #expect(try await scene.members(of: "d") == nil)
    }

    @Test func `a message tells nothing new of who is a member already`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a", "b"], at: 1))
        let event = Event.message("c", from: Person(id: "z"), at: 2)
        let id = try await scene.accept(event)[0]
        try await scene.accept(.message("c", from: Person(id: "a"), at: 9, members: ["b"]))
        #expect(try await scene.told(of: event, id).subtracting(["z"]) == ["a", "b"])
    }

    @Test func `messages of one batch reach those whom each of them lists`() async throws {
        let first = Event.message("c", from: Person(id: "z"), at: 9, members: ["a"])
        let second = Event.message("c", from: Person(id: "z"), at: 8, members: ["a", "b"])
        let answers = try await scene.acceptTogether(first, second)
        for (event, answer, expected) in [(first, answers[0], ["a"]), (second, answers[1], ["a", "b"])] {
            guard case .accepted(let id, _) = answer else { throw UnexpectedAnswer() }
            let told = try await scene.told(of: event, id)
            #expect(told.isSuperset(of: expected.map { UserID(trusted: $0) }))
        }
    }

    @Test func `who leaves and writes again within one batch is a member`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a", "b"], at: 1))
        try await scene.acceptTogether(
            .message("c", from: Person(id: "a"), at: 6),
            .members(.memberLeft, "c", ["a"], at: 5),
            .message("c", from: Person(id: "b"), at: 5),
            .members(.memberLeft, "c", ["b"], at: 6)
        )
        #expect(try await scene.members(of: "c") == ["a"])
    }

    @Test func `who is deleted and writes again within one batch is a member`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a", "b"], at: 1))
        try await scene.acceptTogether(
            .message("c", from: Person(id: "a"), at: 6),
            .user(.userDeleted, Person(id: "a"), at: 5),
            .user(.userDeleted, Person(id: "b"), at: 5),
            .message("c", from: Person(id: "b"), at: 4)
        )
        #expect(try await scene.members(of: "c") == ["a"])
        #expect(try await scene.directory.user("b", in: scene.network) == nil)
        // As late as it is, it deletes somebody of whom nothing but the id was said, who is a member all the same.
        try await scene.accept(
            .members(.memberJoined, "d", ["e"], at: 8),
            .user(.userDeleted, Person(id: "e"), at: 5),
            .message("d", from: Person(id: "e"), at: 9)
        )
        #expect(try await scene.directory.user("e", in: scene.network) == Person(id: "e"))
    }

    @Test func `a repeated message makes nobody a member`() async throws {
        try await scene.accept(.message("c", from: Person(id: "a"), at: 1, id: "same"))
        try await scene.acceptTogether(
            .message("c", from: Person(id: "b"), at: 2, id: "same", members: ["d"]),
            .message("c", from: Person(id: "a"), at: 3, id: "other", members: ["e"])
        )
        #expect(try await scene.members(of: "c") == ["a", "e"])
    }

    @Test func `only those of the members whom an event names see it`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a", "b", "d"]))
        var message = Event.message("c", from: Person(id: "z"), at: 1, members: ["new", "other"])
        message.visibleTo = ["a", "new", "stranger"]
        #expect(try await scene.told(of: message, scene.accept(message)[0]) == ["a", "new"])
        var joined = Event.members(.memberJoined, "c", ["e"], at: 2)
        joined.visibleTo = ["b", "e"]
        #expect(try await scene.told(of: joined, scene.accept(joined)[0]) == ["b"])
        var created = Event.created("n", by: "z", members: ["a", "b"], at: 3)
        created.visibleTo = ["b", "d"]
        #expect(try await scene.told(of: created, scene.accept(created)[0]) == ["b"])
        #expect(try await scene.members(of: "n") == ["a", "b", "z"])
    }

    @Test func `an event that is visible to nobody has no recipients`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a"]))
        var event = Event.message("c", from: Person(id: "z"), at: 1)
        event.visibleTo = []
        #expect(try await scene.told(of: event, scene.accept(event)[0]) == [])
    }

    @Test func `a silent event keeps the directory true and is done`() async throws {
        var event = Event.message("c", from: Person(id: "z", displayName: "Zoe"), at: 1, members: ["a"])
        event.isSilent = true
        let id = try await scene.accept(event, leased: true)[0]
        #expect(try await scene.members(of: "c") == ["a", "z"])
        #expect(try await scene.directory.user("z", in: scene.network)?.displayName == "Zoe")
        let status = try #require(try await scene.history.event(id, in: scene.network))
        #expect(status.state == .done && status.type == .messageSent)
        #expect(status.recipients.resolved == 0)
        try await scene.passTime()
        #expect(try await scene.inbox.claimEvents(limit: 9).isEmpty)
        #expect(try await scene.page(of: event).recipients.isEmpty)
    }

    @Test func `that a channel is direct is remembered`() async throws {
        func isDirect() async throws -> Bool? { try await scene.directory.channel("c", in: scene.network)?.isDirect }
        try await scene.accept(.channel(.channelCreated, Channel(id: "c"), at: 1))
        #expect(try await isDirect() == nil)
        try await scene.accept(.channel(.channelUpdated, Channel(id: "c", isDirect: true), at: 5))
        #expect(try await isDirect() == true)
        try await scene.accept(.channel(.channelUpdated, Channel(id: "c", isDirect: false), at: 4))
        try await scene.accept(.message("c", from: Person(id: "a"), at: 6, channelName: "C"))
        #expect(try await isDirect() == true, "neither an older word nor none changes it")
        try await scene.accept(.channel(.channelUpdated, Channel(id: "c", isDirect: false), at: 7))
        #expect(try await isDirect() == false)
        try await scene.acceptTogether(
            .channel(.channelUpdated, Channel(id: "c", isDirect: true), at: 9),
            .channel(.channelUpdated, Channel(id: "c", displayName: "D", isDirect: false), at: 8)
        )
        #expect(
            try await scene.directory.channel("c", in: scene.network)
                == Channel(id: "c", displayName: "D", isDirect: true)
        )
        try await scene.accept(
            .channel(.channelDeleted, Channel(id: "c"), at: 10),
            .channel(.channelCreated, Channel(id: "c"), at: 11)
        )
        #expect(try await isDirect() == nil)
    }

    @Test func `an admin says whether a channel is direct`() async throws {
        let direct = Channel(id: "c", displayName: "C", isDirect: true)
        #expect(try await scene.directory.putChannel(direct, in: scene.network))
        #expect(try await scene.directory.channel("c", in: scene.network) == direct)
        #expect(try await scene.directory.putChannel(Channel(id: "c"), in: scene.network) == false)
        #expect(try await scene.directory.channel("c", in: scene.network) == Channel(id: "c"))
        let lines: [ImportRecord] = [.channel(direct), .member("d", "a"), .channel(Channel(id: "d", isDirect: true))]
        try await scene.importing([lines])
        #expect(try await scene.directory.channel("c", in: scene.network) == direct)
        #expect(try await scene.directory.channel("d", in: scene.network)?.isDirect == true)
        try await scene.importing([[.member("c", "b")]])
        #expect(try await scene.directory.channel("c", in: scene.network) == direct)
    }

    @Test func `texts learn whether a channel is direct`() async throws {
        try await scene.accept(.channel(.channelCreated, Channel(id: "c", displayName: "C", isDirect: true), at: 1))
        let event = Event.message("c", from: Person(id: "z", displayName: "Z", roles: []), at: 2)
        #expect(try await scene.page(of: event).names == DirectoryNames(channel: "C", isDirect: true))
        var named = event
        named.channel?.displayName = "Named"
        #expect(try await scene.page(of: named).names == DirectoryNames(isDirect: true))
        named.channel?.isDirect = false
        #expect(try await scene.page(of: named).names == DirectoryNames())
    }
}

extension StoreScene {
    /// The first page of an accepted event's recipients.
    func told(of event: Event, _ id: EventID) async throws -> Set<UserID> {
        Set(try await page(of: event, id).recipients.map(\.userID))
    }
}
