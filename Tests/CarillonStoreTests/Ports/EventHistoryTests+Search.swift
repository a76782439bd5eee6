import CarillonCore
import CarillonTesting
import Foundation
import Testing

extension EventHistoryTests {
    @Test func `events are found by what they are`() async throws {
        let target = try await scene.target("d", of: "b")
        let start = WallClock.system.now()
        func accept(_ event: Event, at seconds: Int64) async throws -> EventID {
            var incoming = scene.incoming(event, receivedAt: start - .seconds(10 - seconds))
            incoming.id = EventID(.version7Floor(of: incoming.receivedAt))
            _ = try await scene.inbox.accept([incoming])
            return incoming.id
        }
        // One is on its way, one waits to be expanded, and two are done, one of them in no channel.
        let sent = try await accept(.message("c", from: Person(id: "z"), id: "1"), at: 0)
        let pending = try #require(try await scene.inbox.claimEvents(limit: 1).first)
        let group = scene.group(pending, to: [target])
        _ = try await scene.queue.enqueue([Expansion(event: pending, groups: [group], next: nil)])
        let joined = try await accept(.members(.memberJoined, "c", ["b"], at: 0, id: "2"), at: 1)
        let renamed = try await accept(.channel(.channelUpdated, Channel(id: "other"), at: 0), at: 2)
        let person = try await accept(.user(.userUpdated, Person(id: "z"), at: 0), at: 3)
        _ = try await scene.inbox.accept([scene.incoming(.message("c", from: Person(id: "z")), in: scene.otherNetwork)])
        func find(_ filter: EventFilter) async throws -> [EventID] {
            try await scene.history.events(in: scene.network, matching: filter, before: nil, limit: 10).items.map(\.id)
        }
        #expect(try await find(EventFilter()) == [person, renamed, joined, sent])
        #expect(try await find(EventFilter(type: .messageSent)) == [sent])
        #expect(try await find(EventFilter(channelID: "c")) == [joined, sent])
        #expect(try await find(EventFilter(channelID: "C")).isEmpty)
        #expect(try await find(EventFilter(actorID: "z")) == [person, sent])
        #expect(try await find(EventFilter(channelID: "c", actorID: "z")) == [sent])
        #expect(try await find(EventFilter(state: .accepted)) == [joined])
        #expect(try await find(EventFilter(state: .delivering)) == [sent])
        #expect(try await find(EventFilter(state: .done)) == [person, renamed])
        let (first, second) = (start - .seconds(9), start - .seconds(8))
        #expect(try await find(EventFilter(from: first, to: second)) == [joined])
        #expect(try await find(EventFilter(from: second)) == [person, renamed])
        #expect(try await find(EventFilter(from: second, to: second)).isEmpty)
        let page = try await scene.history.events(
            in: scene.network,
            matching: EventFilter(state: .done),
            before: nil,
            limit: 1
        )
        #expect(page.items.map(\.id) == [person] && page.next == person)
        #expect(page.items.map(\.actorID) == ["z"] && page.items.map(\.channelID) == [nil])
        let rest = try await scene.history.events(
            in: scene.network,
            matching: EventFilter(state: .done),
            before: page.next,
            limit: 1
        )
        #expect(rest.items.map(\.id) == [renamed] && rest.items.map(\.channelID) == ["other"])
        // The id of one was made long after it was accepted.
        var late = scene.incoming(.message("c", from: Person(id: "y"), id: "4"), receivedAt: start - .seconds(30))
        late.id = EventID(.version7Floor(of: start - .seconds(12)))
        _ = try await scene.inbox.accept([late])
        #expect(try await find(EventFilter(to: start - .seconds(29))) == [late.id])
        #expect(try await find(EventFilter(from: start - .seconds(30), to: first)) == [sent, late.id])
    }
}

extension EventHistoryTests {
    @Test func `whom notifications did not reach is listed by time, in pages`() async throws {
        var targets: [Target] = []
        for number in 0..<6 { targets.append(try await scene.target("d\(number)", of: "u\(number)")) }
        func settle(_ states: [(Int, DeliveryState)], in channel: ChannelID) async throws -> EventID {
            let event = try await scene.enqueue(to: [states.map { targets[$0.0] }], in: channel)
            let group = try await scene.claimOne()
            let records = states.map { targets[$0.0].record($0.1, reason: "why \($0.0)") }
            _ = try await scene.queue.settle([Settlement(group: group, records: records, remainders: [])])
            return event
        }
        let before = WallClock.system.now() - .seconds(60)
        _ = try await settle([(4, .delivered), (5, .suppressed)], in: "c")
        let first = try await settle([(0, .delivered), (1, .unregistered), (2, .expired), (3, .dead)], in: "c")
        let second = try await settle([(0, .dead)], in: "other")
        func find(_ query: FailureQuery, after cursor: FailureCursor? = nil, limit: Int = 9) async throws
            -> [FailedDelivery]
        {
            try await scene.history.failures(in: scene.network, query, after: cursor, limit: limit)
        }
        let all = try await find(FailureQuery())
        #expect(all.map(\.record.deviceID) == ["d0", "d3", "d2", "d1"])
        #expect(all.map(\.record.state) == [.dead, .dead, .expired, .unregistered])
        #expect(all.map(\.record.reason) == ["why 0", "why 3", "why 2", "why 1"])
        #expect(all.map(\.eventID) == [second, first, first, first])
        #expect(all.map(\.channelID) == ["other", "c", "c", "c"])
        #expect(all.allSatisfy { $0.provider == .fcm && $0.appID == "app" })
        #expect(all.first?.sourceID == (try await scene.history.event(second, in: scene.network)?.sourceID))
        let oldestFirst = FailureQuery(isOldestFirst: true)
        #expect(try await find(oldestFirst) == all.reversed())
        for query in [FailureQuery(), oldestFirst] {
            var (pages, cursor): ([FailedDelivery], FailureCursor?) = ([], nil)
            while let next = try await find(query, after: cursor, limit: 1).first {
                pages.append(next)
                cursor = next.cursor
            }
            #expect(pages == (query.isOldestFirst ? all.reversed() : all))
        }
        #expect(try await find(FailureQuery(from: before)).count == 4)
        #expect(try await find(FailureQuery(to: before)).isEmpty)
        let last = try #require(all.first?.cursor.moment)
        #expect(try await find(FailureQuery(from: last + .milliseconds(1))).isEmpty)
        #expect(try await find(FailureQuery(from: last, to: last + .milliseconds(1))).first == all.first)
        #expect(try await scene.history.failures(in: scene.otherNetwork, FailureQuery(), after: nil, limit: 9).isEmpty)
    }
}
