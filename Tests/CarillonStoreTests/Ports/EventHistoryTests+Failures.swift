import CarillonCore
import CarillonTesting
import Testing

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
        func find(_ query: FailureQuery, after place: FailurePlace? = nil, limit: Int = 9) async throws
            -> [FailedDelivery]
        {
            try await scene.history.failures(in: scene.network, query, after: place, limit: limit)
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
            var (pages, place): ([FailedDelivery], FailurePlace?) = ([], nil)
            while let next = try await find(query, after: place, limit: 1).first {
                pages.append(next)
                place = next.place
            }
            #expect(pages == (query.isOldestFirst ? all.reversed() : all))
        }
        #expect(try await find(FailureQuery(from: before)).count == 4)
        #expect(try await find(FailureQuery(to: before)).isEmpty)
        let last = try #require(all.first?.place.moment)
        #expect(try await find(FailureQuery(from: last + .milliseconds(1))).isEmpty)
        #expect(try await find(FailureQuery(from: last, to: last + .milliseconds(1))).first == all.first)
        #expect(try await scene.history.failures(in: scene.otherNetwork, FailureQuery(), after: nil, limit: 9).isEmpty)
    }
}
