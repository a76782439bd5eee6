@testable import CarillonCore
import CarillonTesting
import Foundation
import Testing

/// What store promises of what endpoints are told (``RelaySource``, ``RelayHistory``, and the queue's part in it).
@Suite(.stores) struct RelayTests {
    let scene = StoreScene.here

    @Test func `an event that notifies nobody is expanded for endpoints, and only for them`() async throws {
        let event = Event.user(.userUpdated, Person(id: "u", displayName: "U"), at: 1)
        var incoming = scene.incoming(event)
        #expect(!incoming.isExpanded)
        _ = try await scene.inbox.accept([incoming])
        #expect(try await scene.inbox.claimEvents(limit: 9).isEmpty)
        incoming = scene.incoming(Event.user(.userUpdated, Person(id: "u", displayName: "U"), at: 2))
        incoming.isRelayed = true
        _ = try await scene.inbox.accept([incoming])
        let claimed = try await scene.inbox.claimEvents(limit: 9)
        #expect(claimed.map(\.id) == [incoming.id] && claimed.first?.event.type == .userUpdated)
        let pending = try #require(claimed.first)
        let query = RecipientQuery(networkID: scene.network, eventID: pending.id, event: pending.event)
        #expect(try await scene.recipients.page(for: query).recipients.isEmpty)
        #expect(try await scene.history.event(incoming.id, in: scene.network)?.state == .accepted)
        _ = try await scene.queue.enqueue([Expansion(event: pending, groups: [], next: nil)])
        #expect(try await scene.history.event(incoming.id, in: scene.network)?.state == .done)
    }

    @Test func `a body is kept in the commit that expands its event, byte by byte`() async throws {
        try await scene.addEndpoint("e-1")
        let event = Event.message("c", from: Person(id: "s"), id: "odd")
        let body = Array(#" { "extra": [1.50, "é"], "#.utf8) + event.body.dropFirst() + Array("\n".utf8)
        let ids = try await scene.relay(event, to: ["e-1"], body: body, pages: 2)
        let key = RelayKey(networkID: scene.network, endpointID: "e-1", eventID: ids[0])
        let message = try #require(try await scene.messages.relayMessages([key])[key])
        #expect(message.body == body && message.state == .enabled && message.secrets.count == 1)
        #expect(message.settings == Endpoint.sample("e-1").settings)
        let others = [
            RelayKey(networkID: scene.otherNetwork, endpointID: "e-1", eventID: ids[0]),
            RelayKey(networkID: scene.network, endpointID: "e-2", eventID: ids[0]),
        ]
        #expect(try await scene.messages.relayMessages(others).isEmpty)
        let unkept = RelayKey(networkID: scene.network, endpointID: "e-1", eventID: EventID(scene.ids.next()))
        #expect(try await scene.messages.relayMessages([unkept, key]).mapValues(\.body) == [unkept: nil, key: body])
    }

    @Test func `messages to endpoints are in no count of their event`() async throws {
        try await scene.addEndpoint("e-1")
        let id = try await scene.relay(to: ["e-1"])[0]
        func status() async throws -> EventStatus { try #require(try await scene.history.event(id, in: scene.network)) }
        var known = try await status()
        #expect(known.state == .done && known.deliveries.values.allSatisfy { $0 == 0 })
        let group = try await scene.claimOne()
        #expect(group.relayKey?.eventID == id && group.targets.count == 1)
        #expect(try await scene.queue.settle([.all(group, .dead)]).stale.isEmpty)
        known = try await status()
        #expect(known.state == .done && known.deliveries.values.allSatisfy { $0 == 0 })
        let page = try await scene.history.deliveries(of: id, in: scene.network, after: nil, limit: 9)
        #expect(page?.items.isEmpty == true)
        #expect(try await scene.history.deadLetters(in: scene.network, after: nil, limit: 9).isEmpty)
    }

    @Test func `a message is followed from its first attempt to its last`() async throws {
        try await scene.addEndpoint("e-1")
        let id = try await scene.relay(to: ["e-1"])[0]
        let first = try #require(try await scene.told("e-1").first)
        #expect(first.eventID == id && first.state == .pending && first.attempts == 0 && first.answer == nil)
        #expect(first.eventType == .messageSent)
        var group = try await scene.claimOne()
        _ = try await scene.queue.settle([.failed(group, "http 503 in 9 ms")])
        let second = try #require(try await scene.told("e-1").first)
        #expect(second.state == .pending && second.attempts == 1)
        #expect(second.answer == RelayAnswer("http 503 in 9 ms") && second.answer?.status == 503)
        try await scene.passTime()
        group = try await scene.claimOne()
        #expect(group.attempt == 1 && group.terms?.isReplay == false)
        var settlement = Settlement.all(group, .delivered)
        settlement.records[0].providerMessageID = "http 204 in 12 ms"
        _ = try await scene.queue.settle([settlement])
        let third = try await scene.told("e-1")
        #expect(third.map(\.state) == [.delivered])
        #expect(third.first?.answer?.status == 204 && third.first?.answer?.milliseconds == 12)
        #expect(third.first?.answer?.error == nil)
        #expect(try await scene.claim().isEmpty)
    }

    @Test func `switches and devices say nothing of messages`() async throws {
        try await scene.addEndpoint("e-1")
        _ = try await scene.relay(to: ["e-1"])
        let group = try await scene.claimOne()
        let refreshed = try #require(try await scene.queue.refresh([group]).first)
        #expect(refreshed.gone.isEmpty && refreshed.group.targets == group.targets)
        #expect(refreshed.group.expiresAt == group.expiresAt)
    }

    @Test func `an endpoint shows how it fares, and is disabled when it says that it is gone`() async throws {
        try await scene.addEndpoint("e-1")
        let version = try await scene.endpointLog.endpointList(unless: nil)?.version
        func present() async throws -> Endpoint {
            try #require(try await scene.endpoints.endpoints(of: scene.network).first)
        }
        _ = try await scene.relay(to: ["e-1"])
        _ = try await scene.queue.settle([.failed(scene.claimOne(), "http 500 in 3 ms")])
        var endpoint = try await present()
        #expect(endpoint.lastError == "http 500" && endpoint.lastSuccessAt == nil)
        try await scene.passTime()
        _ = try await scene.queue.settle([.all(scene.claimOne(), .delivered)])
        endpoint = try await present()
        #expect(endpoint.lastError == nil && endpoint.lastSuccessAt != nil)
        #expect(
            try await scene.endpointLog.endpointList(unless: version) == nil,
            "nothing that is remembered has changed"
        )
        _ = try await scene.relay(to: ["e-1"])
        var settlement = Settlement.all(try await scene.claimOne(), .unregistered)
        settlement.records[0].reason = "http 410 in 2 ms"
        _ = try await scene.queue.settle([settlement])
        endpoint = try await present()
        #expect(endpoint.state == .disabled && endpoint.stateReason == "http 410")
        let list = try #require(try await scene.endpointLog.endpointList(unless: version))
        #expect(list.endpoints[scene.network]?.first?.state == .disabled)
        #expect(try await scene.told("e-1").map(\.state) == [.failed, .delivered])
    }

    @Test func `messages are listed in pages, the latest events first`() async throws {
        for id: EndpointID in ["e-1", "e-2"] { try await scene.addEndpoint(id) }
        var ids: [EventID] = []
        for _ in 0..<5 { ids += try await scene.relay(to: ["e-1", "e-2"]) }
        ids.reverse()
        let groups = try await scene.claim().map(\.group).filter { $0.lane.appID == "e-1" }
        func group(_ index: Int) throws -> DeliveryGroup {
            try #require(groups.first { $0.cause.eventID == ids[index] })
        }
        _ = try await scene.queue.settle([
            .all(try group(0), .delivered), .all(try group(1), .dead), .failed(try group(2), "timeout in 15000 ms"),
        ])
        #expect(try await scene.told("e-1").map(\.eventID) == ids)
        #expect(try await scene.told("e-1", .delivered).map(\.eventID) == [ids[0]])
        #expect(try await scene.told("e-1", .failed).map(\.eventID) == [ids[1]])
        #expect(try await scene.told("e-1", .pending).map(\.eventID) == Array(ids[2...]))
        #expect(try await scene.told("e-2").map(\.state) == Array(repeating: .pending, count: 5))
        #expect(try await scene.told("e-1", before: ids[1], limit: 2).map(\.eventID) == [ids[2], ids[3]])
        #expect(try await scene.told("e-1", only: ids[1]).map(\.state) == [.failed])
        #expect(try await scene.told("e-1", .delivered, only: ids[1]).isEmpty)
        #expect(try await scene.told("e-3").isEmpty)
    }

    @Test func `a message is sent again by hand as long as its body is kept`() async throws {
        try await scene.addEndpoint("e-1")
        let end = WallClock.system.now() + .seconds(90_000)
        func retry(_ event: EventID) async throws -> RelayRetry {
            try await scene.relays.retryRelay(of: event, to: "e-1", in: scene.network, until: end)
        }
        #expect(try await retry(EventID(scene.ids.next())) == .unknown)
        let id = try await scene.relay(to: ["e-1"])[0]
        #expect(try await retry(id) == .queued)
        _ = try await scene.queue.settle([.all(scene.claimOne(), .dead)])
        #expect(try await scene.told("e-1").map(\.state) == [.failed])
        #expect(try await retry(id) == .queued)
        #expect(try await retry(id) == .queued)
        #expect(try await scene.told("e-1").map(\.state) == [.pending])
        let again = try await scene.claimOne()
        #expect(again.terms == RelayTerms(expiresAt: end, isReplay: true) && again.attempt == 0)
        _ = try await scene.queue.settle([.all(again, .delivered)])
        #expect(try await scene.told("e-1").map(\.state) == [.delivered])
        // Of an event whose body was never kept.
        let other = try await scene.relay(to: ["e-1"], keepsBody: false)[0]
        _ = try await scene.queue.settle([.all(scene.claimOne(), .dead)])
        #expect(try await retry(other) == .bodyGone)
        #expect(try await scene.told("e-1", only: other).map(\.state) == [.failed])
    }

    @Test func `a replay tells of what was asked for, one at a time`() async throws {
        try await scene.addEndpoint("e-1")
        let start = WallClock.system.now()
        let messages = try await scene.relay(to: ["e-1"]) + scene.relay(to: [])
        let joined = try await scene.relay(.members(.memberJoined, "c", ["x"], at: 5), to: [])
        let group = try await scene.claimOne()
        _ = try await scene.queue.settle([.all(group, .dead)])
        let end = WallClock.system.now() + .seconds(1)
        func replay(_ types: [String], onlyFailed: Bool = false, to: Timestamp? = nil) async throws -> Int {
            let order = ReplayOrder(from: start, to: to ?? end, types: types, onlyFailed: onlyFailed)
            let count = try await scene.relays.beginReplay(order, to: "e-1", in: scene.network)
            #expect(!count.hasMore)
            return count.events
        }
        func replayed() async throws -> Set<EventID> {
            while try await scene.replays.continueReplays() {}
            let groups = try await scene.claim().map(\.group)
            #expect(groups.allSatisfy { $0.terms?.isReplay == true })
            _ = try await scene.queue.settle(groups.map { .all($0, .delivered) })
            return Set(groups.flatMap(\.relayKeys).map(\.eventID))
        }
        #expect(try await replay(["message.sent"], onlyFailed: true) == 1)
        await #expect(throws: ReplayUnderWay.self) { try await replay(["message.sent"]) }
        #expect(try await replayed() == [messages[0]])
        #expect(try await replay(["message.sent", "member.joined"]) == 3)
        #expect(try await replayed() == Set(messages + joined))
        #expect(try await replay(["member.joined"]) == 1)
        #expect(try await replayed() == Set(joined))
        #expect(try await replay(["message.sent"], to: start) == 0)
        #expect(try await replayed().isEmpty)
        #expect(try await replay(["message.sent"], onlyFailed: true) == 0, "all have arrived by now")
        #expect(try await replayed().isEmpty)
    }

    @Test func `a replay leaves out what is on its way, and stops for what waits`() async throws {
        try await scene.addEndpoint("e-1")
        let start = WallClock.system.now()
        let live = try await scene.relay(to: ["e-1"])
        let former = try await scene.relay(to: [])
        let order = ReplayOrder(
            from: start,
            to: WallClock.system.now() + .seconds(1),
            types: ["message.sent"],
            onlyFailed: false
        )
        #expect(try await scene.relays.beginReplay(order, to: "e-1", in: scene.network).events == 2)
        while try await scene.replays.continueReplays() {}
        let waiting = try await scene.claim().map(\.group)
        #expect(Set(waiting.map(\.cause.eventID)) == Set(live + former) && waiting.count == 2)
        #expect(waiting.first { $0.cause.eventID == live[0] }?.terms?.isReplay == false)
    }

    @Test func `a replay ends with its endpoint`() async throws {
        try await scene.addEndpoint("e-1")
        let start = WallClock.system.now()
        _ = try await scene.relay(to: [])
        let end = WallClock.system.now() + .seconds(1)
        let order = ReplayOrder(from: start, to: end, types: ["message.sent"], onlyFailed: false)
        _ = try await scene.relays.beginReplay(order, to: "e-1", in: scene.network)
        _ = try await scene.endpoints.deleteEndpoint("e-1", of: scene.network)
        #expect(try await scene.replays.continueReplays() == false)
        #expect(try await scene.claim().isEmpty)
        try await scene.addEndpoint("e-1")
        #expect(try await scene.relays.beginReplay(order, to: "e-1", in: scene.network).events == 1)
    }

    @Test func `what waits for an endpoint goes with it, and leaves nothing behind`() async throws {
        for id: EndpointID in ["e-1", "e-2"] { try await scene.addEndpoint(id) }
        let first = try await scene.relay(to: ["e-1"])
        let inHand = try await scene.claimOne()
        let others = try await scene.relay(to: ["e-1", "e-2"])
        #expect(try await scene.endpoints.deleteEndpoint("e-1", of: scene.network))
        #expect(try await scene.claim().map(\.group.relayKey?.endpointID) == ["e-2"])
        _ = try await scene.queue.settle([.all(inHand, .dead, reason: "endpoint removed")])
        #expect(try await scene.told("e-1").isEmpty)
        #expect(try await scene.told("e-2").map(\.eventID) == others)
        try await scene.addEndpoint("e-1")
        #expect(try await scene.told("e-1").isEmpty)
        #expect(inHand.relayKey?.eventID == first[0])
    }

    @Test func `a message that waits has a new life when it is sent again by hand`() async throws {
        try await scene.addEndpoint("e-1")
        let id = try await scene.relay(to: ["e-1"])[0]
        let group = try await scene.claimOne()
        _ = try await scene.queue.settle([.failed(group, "http 503 in 9 ms", attempt: 3, delay: .seconds(3_600))])
        #expect(try await scene.claim().isEmpty)
        let end = group.expiresAt + .seconds(90_000)
        for expiry in [end, end - .seconds(80_000)] {
            let retry = try await scene.relays.retryRelay(of: id, to: "e-1", in: scene.network, until: expiry)
            #expect(retry == .queued)
        }
        let again = try await scene.claimOne()
        #expect(again.expiresAt == end && again.attempt == 3 && again.terms?.isReplay == false)
    }

    @Test func `what endpoints are told goes with the network`() async throws {
        try await scene.addEndpoint("e-1")
        let id = try await scene.relay(to: ["e-1"])[0]
        _ = try await scene.queue.settle([.all(scene.claimOne(), .dead)])
        _ = try await scene.accounts.deleteNetwork(scene.network)
        _ = try await scene.accounts.createNetwork(.sample(scene.network, name: "Again"))
        try await scene.addEndpoint("e-1")
        #expect(try await scene.told("e-1").isEmpty)
        let key = RelayKey(networkID: scene.network, endpointID: "e-1", eventID: id)
        #expect(try await scene.messages.relayMessages([key])[key]?.body == nil)
    }
}

extension StoreScene {
    fileprivate func addEndpoint(_ id: EndpointID) async throws {
        try await endpoints.addEndpoint(.sample(id), to: network)
    }

    func told(
        _ endpoint: EndpointID,
        _ state: RelayState? = nil,
        only: EventID? = nil,
        before: EventID? = nil,
        limit: Int = 100
    ) async throws -> [RelayDelivery] {
        try await relays.relayDeliveries(
            to: endpoint,
            in: network,
            state: state,
            only: only,
            before: before,
            limit: limit
        )
    }

    /// Expands an event, in one page or more, for endpoints to be told of it.
    fileprivate func relay(
        _ event: Event? = nil,
        to endpoints: [EndpointID],
        body: [UInt8]? = nil,
        keepsBody: Bool = true,
        pages: Int = 1
    ) async throws -> [EventID] {
        let event = event ?? .message("c", from: Person(id: "s"), id: ids.next().uuidString)
        var incoming = incoming(event)
        if let body { incoming.body = body }
        _ = try await inbox.accept([incoming])
        guard var pending = try await inbox.claimEvents(limit: 100).first(where: { $0.id == incoming.id }) else {
            throw UnexpectedAnswer()
        }
        for page in 1...pages {
            let next = page < pages ? PageCursor.user(UserID(trusted: "u-\(page)")) : nil
            var expansion = Expansion(event: pending, after: pending.cursor, groups: [], next: next)
            expansion.event.cursor = next
            if page == 1 {
                expansion.keepsBody = keepsBody
                expansion.messages = endpoints.map { endpoint in
                    DeliveryGroup(
                        id: ids.next(),
                        telling: endpoint,
                        of: RelayedEvent(pending.id, pending.event.type, receivedAt: pending.receivedAt),
                        in: network,
                        on: RelayTerms(expiresAt: pending.receivedAt + .seconds(86_400))
                    )
                }
            }
            guard try await queue.enqueue([expansion]) == [true] else { throw UnexpectedAnswer() }
            pending = expansion.event
        }
        return [pending.id]
    }
}
