import CarillonCore
import CarillonTesting
import Testing

/// What ``DialectStore`` promises, and what ``EventInbox`` and ``RecipientSource`` make of what other backends say beyond
/// native events.
@Suite(.stores) struct DialectTests {
    let scene = StoreScene.here

    private func document(_ secret: String, _ name: DialectName = .amity) -> DialectDocument {
        DialectDocument(
            name: name,
            secrets: [.init(value: Secret(secret), setAt: .seconds(1))],
            basic: .init(user: "carillon", password: Secret("s3cret:with:colons"), setAt: .seconds(2)),
            settings: ["ignoreSenders": ["bot"]],
            updatedAt: .seconds(3)
        )
    }

    @Test func `a document is read back until it is replaced or removed`() async throws {
        let (store, network) = (scene.accounts, scene.network)
        #expect(try await store.dialect(.amity, of: network) == nil)
        let first = document("one")
        let stored = try await store.updateDialect(.amity, of: network) { former in
            guard former == nil else { throw UnexpectedAnswer() }
            return first
        }
        #expect(stored == first)
        #expect(try await store.dialect(.amity, of: network) == first)
        var second = document("two")
        second.isEnabled = false
        second.basic = nil
        let changed = second
        _ = try await store.updateDialect(.amity, of: network) { former in
            guard former == first else { throw UnexpectedAnswer() }
            return changed
        }
        #expect(try await store.dialect(.amity, of: network) == second)
        #expect(try await store.dialect(.stream, of: network) == nil)
        #expect(try await store.deleteDialect(.amity, of: network))
        #expect(try await store.deleteDialect(.amity, of: network) == false)
        #expect(try await store.dialect(.amity, of: network) == nil)
    }

    private struct Refused: Error {}

    @Test func `what a change refuses is not written`() async throws {
        _ = try await scene.accounts.updateDialect(.amity, of: scene.network) { _ in document("one") }
        await #expect(throws: Refused.self) {
            try await scene.accounts.updateDialect(.amity, of: scene.network) { _ in throw Refused() }
        }
        #expect(try await scene.accounts.dialect(.amity, of: scene.network) == document("one"))
    }

    @Test func `documents are listed, and come with the network's credentials`() async throws {
        for name in [DialectName.stream, .amity] {
            _ = try await scene.accounts.updateDialect(name, of: scene.network) { _ in document("one", name) }
        }
        let credentials = try #require(try await scene.accounts.credentials(of: scene.network))
        #expect(credentials.dialects == [document("one", .amity), document("one", .stream)])
        #expect(try await scene.accounts.dialects(of: scene.network) == credentials.dialects)
    }

    @Test func `documents belong to a network`() async throws {
        _ = try await scene.accounts.updateDialect(.amity, of: scene.network) { _ in document("one") }
        #expect(try await scene.accounts.dialect(.amity, of: scene.otherNetwork) == nil)
        #expect(try await scene.accounts.deleteDialect(.amity, of: scene.otherNetwork) == false)
        #expect(try await scene.accounts.credentials(of: scene.otherNetwork)?.dialects == [])
        #expect(try await scene.accounts.dialects(of: scene.otherNetwork) == [])
        let nobody = try await scene.accounts.updateDialect(.amity, of: "none") { _ in document("one") }
        #expect(nobody == nil)
    }
}

/// Whom events of dialects concern.
extension DialectTests {
    private func join(_ users: [UserID], at seconds: Int64) -> Event {
        var event = Event.members(.memberJoined, "c", users, at: seconds)
        event.isOfNewMembersOnly = true
        return event
    }

    private func news(of event: Event, _ id: EventID, _ scene: StoreScene) async throws -> [UserID] {
        let query = RecipientQuery(networkID: scene.network, eventID: id, event: event)
        let page = try await scene.recipients.page(for: query)
        return event.without(membersFromBefore: page.membersFromBefore).members.map(\.id)
    }

    @Test func `who was a member before is no news where only new members are`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a", "b"], at: 1))
        let event = join(["b", "d"], at: 2)
        let id = try await scene.accept(event)[0]
        #expect(try await news(of: event, id, scene) == ["d"])
        #expect(try await scene.members(of: "c") == ["a", "b", "d"])
        let again = join(["d"], at: 3)
        let second = try await scene.accept(again)[0]
        #expect(try await news(of: again, second, scene) == [])
        let query = RecipientQuery(networkID: scene.network, eventID: second, event: again)
        #expect(RecipientJudge(again, try await scene.recipients.page(for: query)).subject == nil)
    }

    @Test func `who was a member before the channel was emptied is news`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a", "b"], at: 1))
        let query = RecipientQuery(networkID: scene.network, prospect: join(["b"], at: 2), only: ["a"])
        #expect(try await scene.recipients.page(for: query).membersFromBefore == ["b"])
        try await scene.directory.replaceMembers(of: "c", with: [], in: scene.network)
        #expect(try await scene.recipients.page(for: query).membersFromBefore == [])
    }

    @Test func `who is created and joins within one batch is no news`() async throws {
        let event = join(["b"], at: 2)
        let acceptances = try await scene.acceptTogether(.created("c", by: nil, members: ["a", "b"], at: 1), event)
        guard case .accepted(let id, _) = acceptances[1] else { throw UnexpectedAnswer() }
        #expect(try await news(of: event, id, scene) == [])
    }

    @Test func `who left and joins again is news`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a", "b"], at: 1),
            .members(.memberLeft, "c", ["b"], at: 2)
        )
        let event = join(["b"], at: 3)
        let id = try await scene.accept(event)[0]
        #expect(try await news(of: event, id, scene) == ["b"])
    }

    @Test func `whom a joining knows to be members is told of it`() async throws {
        var event = join(["d"], at: 2)
        event.existingMembers = [Person(id: "a", displayName: "Alice"), Person(id: "b")]
        let id = try await scene.accept(event)[0]
        #expect(try await scene.members(of: "c") == ["a", "b", "d"])
        #expect(try await scene.told(of: event, id).subtracting(["d"]) == ["a", "b"])
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Alice")
    }

    @Test func `a newer leave is not undone by what a joining knows`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a", "b"], at: 1),
            .members(.memberLeft, "c", ["b"], at: 5)
        )
        var event = join(["d"], at: 3)
        event.existingMembers = [Person(id: "b")]
        try await scene.accept(event)
        #expect(try await scene.members(of: "c") == ["a", "d"])
    }

    @Test func `who is invited is told of a channel, and no member of it`() async throws {
        var event = Event.created("c", by: "z", members: ["a"], at: 1)
        event.invited = [Person(id: "b", displayName: "Bob")]
        let id = try await scene.accept(event)[0]
        #expect(try await scene.members(of: "c") == ["a", "z"])
        #expect(try await scene.told(of: event, id).subtracting(["z"]) == ["a", "b"])
        let joining = join(["b"], at: 2)
        let second = try await scene.accept(joining)[0]
        #expect(try await news(of: joining, second, scene) == ["b"])
    }

    @Test func `who left since is told of no channel, whoever is invited to it`() async throws {
        try await scene.accept(.created("c", by: nil, members: ["a"], at: 1))
        try await scene.accept(.members(.memberLeft, "c", ["a"], at: 5))
        var event = Event.created("c", by: nil, members: ["a", "d"], at: 2)
        event.invited = [Person(id: "b")]
        let id = try await scene.accept(event)[0]
        #expect(try await scene.told(of: event, id) == ["b", "d"])
    }

    @Test func `who is invited alone is told, and no member`() async throws {
        try await scene.accept(.created("c", by: "z", members: ["a"], at: 1))
        var event = Event.channel(.channelInvited, Channel(id: "c"), at: 2)
        event.actor = Person(id: "z")
        event.invited = [Person(id: "b", displayName: "Bob"), Person(id: "z")]
        let id = try await scene.accept(event)[0]
        #expect(try await scene.members(of: "c") == ["a", "z"])
        #expect(try await scene.told(of: event, id).subtracting(["z"]) == ["b"])
        #expect(try await scene.directory.user("b", in: scene.network)?.displayName == "Bob")
    }

    @Test func `who leaves an unknown channel makes none`() async throws {
        try await scene.accept(.members(.memberLeft, "nowhere", ["a"], at: 1))
        #expect(try await scene.directory.channel("nowhere", in: scene.network) == nil)
        // What is over in a channel that is gone does not bring it back, and of a known one it may say the name.
        try await scene.accept(.created("gone", by: nil, members: ["a"], at: 1))
        try await scene.accept(.channel(.channelDeleted, Channel(id: "gone"), at: 2))
        try await scene.accept(.created("c", by: nil, members: ["a"], at: 1))
        for channel in ["gone", "c"] as [ChannelID] {
            var leaving = Event.members(.memberLeft, channel, ["a"], at: 3)
            leaving.channel?.displayName = "Named"
            try await scene.accept(leaving)
        }
        #expect(try await scene.directory.channel("gone", in: scene.network) == nil)
        #expect(try await scene.directory.channel("c", in: scene.network)?.displayName == "Named")
    }

    @Test func `a fallback names a channel of which no name was stated`() async throws {
        func name(after own: String?, _ fallback: String?, at time: Int64) async throws -> String? {
            let channel = Channel(id: "c", displayName: own, fallbackName: fallback)
            try await scene.accept(.channel(.channelUpdated, channel, at: time))
            return try await scene.directory.channel("c", in: scene.network)?.knownName
        }
        #expect(try await name(after: nil, nil, at: 1) == nil)
        #expect(try await name(after: nil, "", at: 2) == "")
        #expect(try await name(after: nil, "#alias", at: 3) == "#alias")
        var message = Event.message("c", from: Person(id: "a"), at: 4, id: "weak")
        message.channel?.fallbackName = ""
        try await scene.accept(message)
        #expect(try await scene.directory.channel("c", in: scene.network)?.knownName == "#alias")
        #expect(try await name(after: "Lobby", "#alias", at: 5) == "Lobby")
        #expect(try await name(after: nil, "#other", at: 6) == "Lobby")
        #expect(try await name(after: "", nil, at: 7) == "#other")
        #expect(try await name(after: "Late", nil, at: 0) == "#other")
        try await scene.accept(.channel(.channelDeleted, Channel(id: "c"), at: 8))
        #expect(try await name(after: nil, "", at: 9) == "")
        // Of one batch, too, and beside what says nothing new of a member.
        try await scene.accept(.message("d", from: Person(id: "a"), at: 1))
        message = Event.message("d", from: Person(id: "a"), at: 3, id: "again")
        message.channel?.fallbackName = ""
        try await scene.acceptTogether(
            .channel(.channelUpdated, Channel(id: "d", fallbackName: "#alias"), at: 2),
            message
        )
        #expect(try await scene.directory.channel("d", in: scene.network)?.knownName == "#alias")
    }

    @Test func `an event is hidden from whom it says`() async throws {
        try await scene.accept(.created("c", by: "z", members: ["a", "b"], at: 1))
        var event = Event.message("c", from: Person(id: "z"), at: 2)
        event.hiddenFrom = ["b"]
        let id = try await scene.accept(event)[0]
        let query = RecipientQuery(networkID: scene.network, eventID: id, event: event)
        let page = try await scene.recipients.page(for: query)
        #expect(RecipientJudge(event, page).concerned(page.recipients).map(\.userID) == ["a"])
    }

    @Test func `who writes in an open channel is no member of it`() async throws {
        var event = Event.message("c", from: Person(id: "a"), at: 1)
        event.senderIsMember = false
        try await scene.accept(event)
        #expect(try await scene.members(of: "c") == [])
    }

    @Test func `people are described without being members`() async throws {
        var event = Event.message("c", from: Person(id: "a"), at: 1)
        event.people = [Person(id: "b", displayName: "Bob")]
        try await scene.accept(event)
        #expect(try await scene.members(of: "c") == ["a"])
        #expect(try await scene.directory.user("b", in: scene.network)?.displayName == "Bob")
    }
}
