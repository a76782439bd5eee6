import CarillonCore
import CarillonTesting
import Testing

/// What ``EventInbox`` promises.
@Suite(.stores) struct EventInboxTests {
    let scene = StoreScene.here

    @Test func `whoever claims an event learns its place as whoever accepted it`() async throws {
        let events = (0..<3).map { scene.incoming(.message("c", from: Person(id: "a"), at: 10 - $0)) }
        let accepted = try await scene.inbox.accept(events)
        let claimed = try await scene.inbox.claimEvents(limit: 10)
        for (event, acceptance) in zip(events, accepted) {
            guard case .accepted(event.id, let mark) = acceptance else { throw UnexpectedAnswer() }
            #expect(claimed.first { $0.id == event.id }?.mark == mark)
        }
    }

    @Test func `of one id twice in one call the first wins`() async throws {
        let first = scene.incoming(.message("c", from: Person(id: "a", displayName: "First"), id: "evt"))
        let second = scene.incoming(.message("c", from: Person(id: "a", displayName: "Second"), id: "evt"))
        let third = scene.incoming(.message("c", from: Person(id: "a"), id: "other"))
        #expect(
            try await scene.inbox.accept([first, second, third]).map(\.unmarked)
                == [.accepted(first.id), .duplicate(first.id), .accepted(third.id)]
        )
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "First")
    }

    @Test func `a repeated id is a duplicate of the first and says nothing new`() async throws {
        let first = scene.incoming(.message("c", from: Person(id: "a", displayName: "First"), at: 0, id: "evt"))
        let again = scene.incoming(.message("c", from: Person(id: "a", displayName: "Again"), at: 9, id: "evt"))
        let fresh = scene.incoming(.message("c", from: Person(id: "b", displayName: "Fresh"), at: 9, id: "new"))
        #expect(try await scene.inbox.accept([first]).map(\.unmarked) == [.accepted(first.id)])
        #expect(
            try await scene.inbox.accept([again, fresh]).map(\.unmarked) == [.duplicate(first.id), .accepted(fresh.id)]
        )
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "First")
        #expect(try await scene.directory.user("b", in: scene.network)?.displayName == "Fresh")
        #expect(try await scene.inbox.claimEvents(limit: 10).map(\.id) == [first.id, fresh.id])
    }

    @Test func `an id is remembered for seven days`() async throws {
        let now = WallClock.system.now()
        let old = scene.incoming(
            .message("c", from: Person(id: "a"), id: "evt"),
            receivedAt: now - .seconds(8 * 86_400)
        )
        let known = scene.incoming(
            .message("c", from: Person(id: "a"), id: "evt"),
            receivedAt: now - .seconds(2 * 86_400)
        )
        let again = scene.incoming(.message("c", from: Person(id: "a"), id: "evt"), receivedAt: now)
        #expect(try await scene.inbox.accept([old]).map(\.unmarked) == [.accepted(old.id)])
        #expect(try await scene.inbox.accept([known]).map(\.unmarked) == [.duplicate(old.id)])
        #expect(try await scene.inbox.accept([again]).map(\.unmarked) == [.accepted(again.id)])
    }

    @Test func `an id of another network is another event`() async throws {
        let event = Event.message("c", from: Person(id: "a"), id: "evt")
        let here = scene.incoming(event)
        let there = scene.incoming(event, in: scene.otherNetwork)
        #expect(
            try await scene.inbox.accept([here, there]).map(\.unmarked) == [.accepted(here.id), .accepted(there.id)]
        )
    }

    @Test func `of a hundred at once with one id exactly one is accepted`() async throws {
        let event = Event.message("c", from: Person(id: "a", displayName: "A"), id: "evt")
        // They wait for each other, however long that takes here.
        let answers = try await inParallel(100) { _ in
            try await scene.inbox.accept([scene.incoming(event)], lockWait: .seconds(10))[0]
        }
        let accepted = answers.filter { if case .accepted = $0 { true } else { false } }
        #expect(accepted.count == 1)
        #expect(Set(answers.map(\.id)).count == 1)
    }

    @Test func `batches that overlap in opposite orders neither fail nor accept twice`() async throws {
        let answers = try await inParallel(16) { turn in
            var events = (0..<40).map { number in
                let person = Person(id: "u\((number * 7 + turn) % 20)", displayName: "\(turn)")
                return Event.message("c\(number % 9)", from: person, at: Int64(turn), id: "evt-\(number)")
            }
            events += (0..<10).map { number in
                .members(
                    .memberJoined,
                    "c1",
                    ["u\(number)", "u\(19 - number)"],
                    at: Int64(turn),
                    id: "join-\(turn)-\(number)"
                )
            }
            if turn % 2 == 1 { events.reverse() }
            // All of them wait for the same rows, one after the other: how long that takes is not what is looked at.
            return try await scene.inbox.accept(events.map { scene.incoming($0) }, lockWait: .seconds(10))
        }
        let accepted = answers.joined().filter { if case .accepted = $0 { true } else { false } }
        #expect(accepted.count == 40 + 16 * 10)
    }

    @Test func `what notifies nobody is done at once`() async throws {
        let id = try await scene.accept(.user(.userUpdated, Person(id: "a", displayName: "A"), at: 0))[0]
        #expect(try await scene.inbox.claimEvents(limit: 10).isEmpty)
        #expect(try await scene.history.event(id, in: scene.network)?.state == .done)
    }

    @Test func `a leased event is claimed only when its lease has run out`() async throws {
        let leased = try await scene.accept(.message("c", from: Person(id: "a"), at: 1), leased: true)[0]
        let free = try await scene.accept(.message("c", from: Person(id: "a"), at: 2))[0]
        #expect(try await scene.inbox.claimEvents(limit: 10).map(\.id) == [free])
        #expect(try await scene.inbox.claimEvents(limit: 10).isEmpty)
        try await scene.passTime()
        #expect(try await scene.inbox.claimEvents(limit: 10).map(\.id) == [leased, free])
    }

    @Test func `a claimed event is the one that was accepted`() async throws {
        let sent = scene.incoming(
            .message("c", from: Person(id: "a", displayName: "A", roles: ["r"]), at: 5, mentions: ["b"])
        )
        _ = try await scene.inbox.accept([sent])
        let claimed = try #require(try await scene.inbox.claimEvents(limit: 1).first)
        #expect(claimed.event == sent.event)
        #expect(claimed.receivedAt == sent.receivedAt)
        #expect(claimed.networkID == scene.network)
        #expect(claimed.cursor == nil)
        #expect(claimed.tally.resolved == 0)
    }

    @Test func `no network takes more than its share of a claim`() async throws {
        for number in 0..<20 { try await scene.accept(.message("c", from: Person(id: "a"), at: Int64(number))) }
        let other = scene.incoming(.message("c", from: Person(id: "a")), in: scene.otherNetwork)
        _ = try await scene.inbox.accept([other])
        let claimed = try await scene.inbox.claimEvents(limit: 10)
        #expect(claimed.contains { $0.networkID == scene.otherNetwork })
        #expect(claimed.count(where: { $0.networkID == scene.network }) >= 5)
        #expect(try await scene.inbox.claimEvents(limit: 100).count == 21 - claimed.count)
    }

    @Test func `of a network that is full nothing is claimed`() async throws {
        let own = try await scene.accept(.message("c", from: Person(id: "a")))
        let other = scene.incoming(.message("c", from: Person(id: "a")), in: scene.otherNetwork)
        _ = try await scene.inbox.accept([other])
        #expect(try await scene.inbox.claimEvents(limit: 9, excluding: [scene.network]).map(\.id) == [other.id])
        #expect(try await scene.inbox.claimEvents(limit: 9, excluding: [scene.network]).isEmpty)
        #expect(try await scene.inbox.claimEvents(limit: 9).map(\.id) == own)
    }

    @Test func `claimers never get the same event`() async throws {
        _ = try await scene.inbox.accept(
            (0..<200).map { scene.incoming(.message("c", from: Person(id: "a"), at: Int64($0))) }
        )
        let claimed = try await inParallel(4) { _ in
            var ids: [EventID] = []
            while case let events = try await scene.inbox.claimEvents(limit: 9), !events.isEmpty {
                ids += events.map(\.id)
            }
            return ids
        }
        #expect(claimed.joined().count == 200)
        #expect(Set(claimed.joined()).count == 200)
    }

    @Test func `only who holds a lease renews it and gives it back`() async throws {
        try await scene.accept(.message("c", from: Person(id: "a")))
        let lost = try await scene.inbox.claimEvents(limit: 1)
        #expect(try await scene.inbox.renew(lost) == Set(lost.map(\.id)))
        try await scene.passTime()
        let held = try await scene.inbox.claimEvents(limit: 1)
        #expect(held.map(\.id) == lost.map(\.id))
        #expect(try await scene.inbox.renew(lost).isEmpty)
        try await scene.inbox.release(lost)
        #expect(try await scene.inbox.claimEvents(limit: 1).isEmpty)
        try await scene.inbox.release(held)
        #expect(try await scene.inbox.claimEvents(limit: 1).count == 1)
    }

    @Test func `why an event could not be expanded is told until it is`() async throws {
        let ids = try await scene.accept(.message("c", from: Person(id: "a")), .message("d", from: Person(id: "a")))
        let events = try await scene.inbox.claimEvents(limit: 2)
        var stale = events[1]
        stale.leaseToken -= 1
        try await scene.inbox.noteFailure(of: [events[0], stale], reason: "too slow")
        let late = try #require(try await scene.history.event(ids[0], in: scene.network))
        #expect(late.failure == "too slow")
        #expect(late.state == .accepted)
        #expect(try await scene.history.event(ids[1], in: scene.network)?.failure == nil)
        _ = try await scene.queue.enqueue([Expansion(event: events[0], groups: [], next: "m")])
        #expect(try await scene.history.event(ids[0], in: scene.network)?.failure == nil)
        _ = try await scene.queue.enqueue([Expansion(event: events[1], groups: [], next: nil)])
        #expect(try await scene.history.event(ids[1], in: scene.network)?.failure == nil)
    }

    @Test func `an event whose workers die again and again is set aside`() async throws {
        let id = try await scene.accept(.message("c", from: Person(id: "a")))[0]
        var claims = 0
        while case let events = try await scene.inbox.claimEvents(limit: 1), !events.isEmpty {
            claims += 1
            try #require(claims < 20)
            try await scene.passTime()
        }
        #expect(claims == 6)
        let status = try #require(try await scene.history.event(id, in: scene.network))
        #expect(status.state == .done)
        #expect(status.failure == "crash loop")
    }

    @Test func `being given back is no crash, whatever came before`() async throws {
        try await scene.accept(.message("c", from: Person(id: "a")))
        for _ in 0..<4 {
            for _ in 0..<3 {
                #expect(try await scene.inbox.claimEvents(limit: 1).count == 1)
                try await scene.passTime()
            }
            try await scene.inbox.release(try await scene.inbox.claimEvents(limit: 1))
        }
        #expect(try await scene.inbox.claimEvents(limit: 1).count == 1)
    }

    @Test func `an event given back for later waits`() async throws {
        try await scene.accept(.message("c", from: Person(id: "a")))
        try await scene.inbox.release(try await scene.inbox.claimEvents(limit: 1), after: .seconds(600))
        #expect(try await scene.inbox.claimEvents(limit: 1).isEmpty)
        try await scene.passTime()
        #expect(try await scene.inbox.claimEvents(limit: 1).count == 1)
    }

    @Test func `an event of a kind that only a later release knows is left to that one`() async throws {
        var later = scene.incoming(.message("c", from: Person(id: "a"), at: 1))
        later.body = Array(#"{"id":"later","type":"poll.closed","data":{"votes":3}}"#.utf8)
        var forgotten = scene.incoming(.message("c", from: Person(id: "a"), at: 1, id: "forgotten"))
        forgotten.body = later.body
        forgotten.receivedAt = forgotten.receivedAt - idempotencyWindow - .seconds(60)
        let whole = scene.incoming(.message("c", from: Person(id: "a"), at: 2))
        _ = try await scene.inbox.accept([later, forgotten, whole])
        #expect(try await scene.inbox.claimEvents(limit: 10).map(\.id) == [whole.id])
        #expect(try await scene.history.event(forgotten.id, in: scene.network)?.failure == unknownKindFailure)
        for _ in 0..<10 {
            try await scene.passTime()
            #expect(try await scene.inbox.claimEvents(limit: 10).allSatisfy { $0.id != later.id })
        }
        let status = try #require(try await scene.history.event(later.id, in: scene.network))
        #expect(status.state == .accepted)
        #expect(status.failure == unknownKindFailure)
    }

    @Test func `an event that cannot be read any more does not hold up the others`() async throws {
        var broken = scene.incoming(.message("c", from: Person(id: "a"), at: 1))
        broken.body = Array("{".utf8)
        let whole = scene.incoming(.message("c", from: Person(id: "a"), at: 2))
        _ = try await scene.inbox.accept([broken, whole])
        #expect(try await scene.inbox.claimEvents(limit: 10).map(\.id) == [whole.id])
        try await scene.passTime()
        #expect(try await scene.inbox.claimEvents(limit: 10).map(\.id) == [whole.id])
    }
}

extension Acceptance {
    /// Without the mark, which a store need not tell.
    var unmarked: Acceptance {
        switch self {
        case .accepted(let id, _): .accepted(id)
        case .duplicate: self
        }
    }

    /// The id in either case.
    var id: EventID {
        switch self {
        case .accepted(let id, _), .duplicate(let id): id
        }
    }
}

/// Runs a body several times at once and answers what each run answered.
func inParallel<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
