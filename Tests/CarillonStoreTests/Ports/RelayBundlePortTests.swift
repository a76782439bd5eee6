import CarillonCore
import CarillonTesting
import Foundation
import Testing

/// What store promises of rows that hold many messages to an endpoint.
@Suite(.stores) struct RelayBundlePortTests {
    let scene = StoreScene.here

    @Test func `the messages of one commit to an endpoint are a row, and end one by one`() async throws {
        let ids = try await scene.bundle(5, to: ["e-1", "e-2"])
        let groups = try await scene.claim().map(\.group)
        #expect(groups.count == 2 && groups.allSatisfy { $0.relayKeys.map(\.eventID).sorted() == ids })
        let group = try #require(groups.first { $0.lane.appID == "e-1" })
        let targets = group.targets.sorted { $0.deviceID < $1.deviceID }
        let page = Settlement(
            group: group,
            records: [targets[0].record(.delivered), targets[1].record(.dead, reason: "http 400 in 2 ms")],
            troubles: [targets[2].deviceID: "http 503 in 9 ms"],
            remainders: [
                Remainder(targets: [targets[4]], attempt: 0, delay: nil),
                Remainder(targets: [targets[2]], attempt: 1, delay: .zero),
                Remainder(targets: [targets[3]], attempt: 0, delay: .seconds(3_600)),
            ]
        )
        #expect(try await scene.queue.settle([page]).stale.isEmpty)
        let told = try await scene.told("e-1").sorted { $0.eventID < $1.eventID }
        #expect(told.map(\.eventID) == ids)
        #expect(told.map(\.state) == [.delivered, .failed, .pending, .pending, .pending])
        #expect(told.map(\.attempts) == [1, 1, 1, 0, 0])
        #expect(told.map(\.eventType) == Array(repeating: .messageSent, count: 5))
        #expect(try await scene.told("e-2").allSatisfy { $0.state == .pending && $0.attempts == 0 })
        let again = try await scene.claim().map(\.group)
        #expect(again.map { $0.relayKey?.eventID } == [ids[2]] && again.first?.attempt == 1)
        #expect(again.first?.cause.eventID == ids[2])
        _ = try await scene.queue.settle([
            .all(try #require(again.first), .delivered),
            Settlement(group: group, records: [targets[4].record(.delivered)], remainders: []),
        ])
        #expect(try await scene.told("e-1", .delivered).map(\.eventID) == [ids[4], ids[2], ids[0]])
    }

    @Test func `an event whose lease was lost is left out of the row`() async throws {
        let ids = try await scene.bundle(3, to: ["e-1"], losing: 1)
        let group = try #require(try await scene.claim().first?.group)
        #expect(group.relayKeys.map(\.eventID) == [ids[0], ids[2]])
    }

    @Test func `a message that waits with others leaves them when it is sent again by hand`() async throws {
        let ids = try await scene.bundle(3, to: ["e-1"])
        let group = try #require(try await scene.claim().first?.group)
        try await scene.queue.release([group], after: .seconds(3_600), laneReason: "endpoint disabled")
        #expect(try await scene.claim().isEmpty)
        let end = group.expiresAt + .seconds(90_000)
        for _ in 0..<2 {
            let retry = try await scene.relays.retryRelay(of: ids[1], to: "e-1", in: scene.network, until: end)
            #expect(retry == .queued)
        }
        let hastened = try await scene.claim().map(\.group)
        #expect(hastened.map { $0.relayKey?.eventID } == [ids[1]] && hastened.first?.expiresAt == end)
        #expect(try await scene.told("e-1").map(\.eventID) == ids.reversed())
        try await scene.queue.makeDue(LaneSelection(group.lane))
        let others = try #require(try await scene.claim().first?.group)
        #expect(others.relayKeys.map(\.eventID) == [ids[0], ids[2]] && others.expiresAt == group.expiresAt)
    }

    @Test func `a message that is on its way with others lives on when it is sent again by hand`() async throws {
        let ids = try await scene.bundle(2, to: ["e-1"])
        let group = try #require(try await scene.claim().first?.group)
        let end = group.expiresAt + .seconds(90_000)
        _ = try await scene.relays.retryRelay(of: ids[1], to: "e-1", in: scene.network, until: end)
        let remainders = group.targets.map { Remainder(targets: [$0], attempt: 1, delay: .zero) }
        let troubles = Dictionary(uniqueKeysWithValues: group.targets.map { ($0.deviceID, "http 500 in 1 ms") })
        _ = try await scene.queue.settle([
            Settlement(group: group, records: [], troubles: troubles, remainders: remainders)
        ])
        let again = try await scene.claim().map(\.group)
        #expect(Set(again.compactMap { $0.relayKey?.eventID }) == Set(ids))
        #expect(again.allSatisfy { $0.expiresAt == end && $0.attempt == 1 })
    }

    @Test func `when the pause of an endpoint is over, what was tried before is claimed first`() async throws {
        let ids = try await scene.bundle(6, to: ["e-1"])
        let group = try #require(try await scene.claim().first?.group)
        let targets = group.targets.sorted { $0.deviceID < $1.deviceID }
        let lane = LaneSelection(group.lane)
        _ = try await scene.queue.apply(.pause(for: .seconds(2), reason: "down"), to: lane)
        let tried = Remainder(targets: [targets[5]], attempt: 1, delay: .zero)
        let untried = targets.prefix(5).map { Remainder(targets: [$0], attempt: 0, delay: .zero) }
        _ = try await scene.queue.settle([Settlement(group: group, records: [], remainders: untried + [tried])])
        #expect(try await scene.claim().isEmpty, "all are put off")
        let first = try await eventually { try await scene.claim(limit: 1).first?.group }
        #expect(first.relayKeys.map(\.eventID) == [ids[5]] && first.attempt == 1)
        let rest = try await eventually {
            let groups = try await scene.claim().map(\.group)
            return groups.isEmpty ? nil : groups
        }
        #expect(rest.count == 5 && rest.allSatisfy { $0.attempt == 0 })
    }

    @Test func `messages are listed in pages, the latest events first`() async throws {
        var ids: [EventID] = []
        for _ in 0..<4 { ids += try await scene.bundle(3, to: ["e-1"]) }
        ids.reverse()
        var listed: [EventID] = []
        while true {
            let page = try await scene.told("e-1", before: listed.last, limit: 5).map(\.eventID)
            listed += page
            if page.count < 5 { break }
        }
        #expect(listed == ids)
        for id in ids { #expect(try await scene.told("e-1", .pending, only: id).map(\.eventID) == [id]) }
        #expect(try await scene.told("e-1", .failed, only: ids[4]).isEmpty)
    }

    @Test func `a replay is told in rows, and leaves out what waits in others`() async throws {
        let start = WallClock.system.now()
        let waiting = try await scene.bundle(2, to: ["e-1"])
        let kept = try await scene.bundle(3, to: [])
        let end = WallClock.system.now() + .seconds(1)
        let order = ReplayOrder(from: start, to: end, types: ["message.sent"], onlyFailed: false)
        #expect(try await scene.relays.beginReplay(order, to: "e-1", in: scene.network).events == 5)
        while try await scene.replays.continueReplays() {}
        let groups = try await scene.claim().map(\.group)
        let (former, replayed) = (
            groups.filter { $0.terms?.isReplay == false }, groups.filter { $0.terms?.isReplay == true }
        )
        #expect(former.flatMap(\.relayKeys).map(\.eventID) == waiting)
        #expect(replayed.flatMap(\.relayKeys).map(\.eventID).sorted() == kept)
    }
}

extension StoreScene {
    /// Expands events together, for endpoints to be told of them by one row each; another one has one of the events by then.
    fileprivate func bundle(
        _ count: Int,
        to endpoints: [EndpointID],
        losing lost: Int? = nil
    ) async throws -> [EventID] {
        let known = try await self.endpoints.endpoints(of: network).map(\.id)
        for id: EndpointID in endpoints where !known.contains(id) {
            try await self.endpoints.addEndpoint(.sample(id), to: network)
        }
        if endpoints.isEmpty, known.isEmpty { throw UnexpectedAnswer() }
        let accepted = (0..<count).map { _ in
            incoming(.message("c", from: Person(id: "s"), id: ids.next().uuidString))
        }
        _ = try await inbox.accept(accepted)
        let claimed = try await inbox.claimEvents(limit: 100).filter { one in accepted.contains { $0.id == one.id } }
        var bundles = RelayBundles()
        let expansions = claimed.sorted { $0.id < $1.id }.enumerated().map { place, pending in
            var event = pending
            if place == lost { event.leaseToken += 1 }
            var expansion = Expansion(event: event, groups: [], next: nil)
            expansion.keepsBody = true
            expansion.messages = endpoints.map { endpoint in
                DeliveryGroup(
                    id: bundles.bundle(for: pending.id, in: Lane(endpoint, in: network), ids: ids),
                    telling: endpoint,
                    of: RelayedEvent(pending.id, pending.event.type, receivedAt: pending.receivedAt),
                    in: network,
                    on: RelayTerms(expiresAt: accepted[0].receivedAt + .seconds(86_400))
                )
            }
            return expansion
        }
        guard expansions.count == count,
            try await queue.enqueue(expansions) == expansions.indices.map({ $0 != lost })
        else { throw UnexpectedAnswer() }
        return claimed.map(\.id).sorted()
    }
}
