import CarillonTesting
import Foundation
import Synchronization
import Testing

@testable import CarillonCore

/// Rows of many messages, through the whole pipeline.
@Suite(.timeLimit(.minutes(1))) struct RelayBundlePipelineTests {
    /// Lets messages to one endpoint hang, and notes the rows that it is given.
    private final class HangingProvider: Provider {
        let name = ProviderName.relay
        let deadline = Duration.seconds(15)
        private let rows = Mutex<[(endpoint: String, size: Int)]>([])

        func sizes(_ endpoint: String) -> [Int] { rows.withLock { $0.filter { $0.endpoint == endpoint }.map(\.size) } }

        func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
            rows.withLock { $0.append((group.lane.appID, group.targets.count)) }
            guard group.lane.appID == "hangs" else {
                for target in group.targets { report(target, .delivered(id: "http 204 in 1 ms")) }
                return
            }
            try? await Task.sleep(for: .seconds(600))
        }
    }

    private func told(_ endpoint: EndpointID, _ state: RelayState?, _ scene: PipelineScene) async throws
        -> [RelayDelivery]
    {
        try await scene.store.relays.relayDeliveries(to: endpoint, in: scene.network, state)
    }

    private func add(_ endpoints: [EndpointID], _ scene: PipelineScene) async throws {
        for id in endpoints {
            var endpoint = Endpoint.sample(id)
            endpoint = Endpoint(
                id: id,
                settings: endpoint.settings,
                createdAt: WallClock.system.now() - .seconds(3_600)
            )
            try await scene.store.endpoints.addEndpoint(endpoint, to: scene.network)
        }
    }

    @Test func `500 messages of an endpoint that hangs hold up none of another one's`() async throws {
        let provider = HangingProvider()
        try await PipelineScene.run(members: 1, providers: [ScriptedProvider(), provider], isRelaying: true) { scene in
            try await add(["hangs", "works"], scene)
            var ids: [EventID] = []
            for _ in 0..<10 {
                ids += try await withThrowingTaskGroup(of: EventID.self) { tasks in
                    for _ in 0..<50 { tasks.addTask { try await scene.post() } }
                    return try await tasks.reduce(into: []) { $0.append($1) }
                }
            }
            try await eventually { try await told("works", .delivered, scene).count == 500 }
            #expect(Set(try await told("works", .delivered, scene).map(\.eventID)) == Set(ids))
            #expect(try await told("hangs", .pending, scene).count == 500)
            #expect(provider.sizes("works").reduce(0, +) == 500)
            #expect(provider.sizes("works").allSatisfy { $0 <= RelayBundles.maximumMessages })
            let inHand = provider.sizes("hangs").reduce(0) { $0 + min($1, DeliveryGroup.messagesAtATime) }
            #expect(inHand >= 32 && inHand < 40, "32 at a time")
        }
    }

    @Test func `of a row one message fails and comes again, and the others have arrived`() async throws {
        let refused = Mutex<DeviceID?>(nil)
        let relay = ScriptedProvider(name: .relay) { target, attempt in
            let isRefused = refused.withLock { refused in
                if refused == nil { refused = target.deviceID }
                return refused == target.deviceID
            }
            return isRefused && attempt == 1
                ? .retry(after: nil, reason: "http 500 in 1 ms") : .delivered(id: "http 204 in 1 ms")
        }
        try await PipelineScene.run(members: 1, providers: [ScriptedProvider(), relay], isRelaying: true) { scene in
            try await add(["e-1"], scene)
            try await withThrowingTaskGroup { tasks in
                for _ in 0..<50 { tasks.addTask { _ = try await scene.post() } }
                try await tasks.waitForAll()
            }
            let told = try await eventually {
                let told = try await self.told("e-1", .delivered, scene)
                return told.count == 50 ? told : nil
            }
            #expect(told.map(\.attempts).sorted() == Array(repeating: 1, count: 49) + [2])
            #expect(relay.devices.count == 51, "nothing was sent twice but what failed")
        }
    }
}

@Suite struct RelayBundlesTests {
    private let ids = UUIDv7Generator()
    private let lane = Lane("e-1", in: "acme")

    private func event(at milliseconds: Int64) -> EventID {
        EventID(.version7(milliseconds: milliseconds, sequence: 0, random: .random(in: 0...(.max))))
    }

    @Test func `a row takes so many messages and no more, of one endpoint`() {
        var bundles = RelayBundles()
        let rows = (0..<250).map { _ in bundles.bundle(for: event(at: 5), in: lane, ids: ids) }
        #expect(Set(rows).count == 3 && rows[0] == rows[99] && rows[99] != rows[100] && rows[249] == rows[200])
        #expect(bundles.bundle(for: event(at: 5), in: Lane("e-2", in: "acme"), ids: ids) != rows[249])
    }

    @Test func `events of one row are not far apart, in whatever order they come`() {
        var bundles = RelayBundles()
        let first = bundles.bundle(for: event(at: 1_000), in: lane, ids: ids)
        #expect(bundles.bundle(for: event(at: 1_500), in: lane, ids: ids) == first)
        #expect(bundles.bundle(for: event(at: 1_000), in: lane, ids: ids) == first)
        let second = bundles.bundle(for: event(at: 999), in: lane, ids: ids)
        #expect(second != first)
        #expect(bundles.bundle(for: event(at: 600), in: lane, ids: ids) == second)
        #expect(bundles.bundle(for: event(at: 1_101), in: lane, ids: ids) != second)
    }

    @Test func `parts of a row have the first event as their cause, and the longest life`() throws {
        let row = ids.next()
        let groups = [(1_200, 9), (1_100, 7), (1_300, 8)].map { moment, end in
            DeliveryGroup(
                id: row,
                telling: "e-1",
                of: RelayedEvent(event(at: moment), .messageSent, receivedAt: Timestamp(milliseconds: moment)),
                in: "acme",
                on: RelayTerms(expiresAt: Timestamp(milliseconds: end))
            )
        }
        let joined = groups.joined
        let bundle = try #require(joined.first)
        #expect(joined.count == 1 && bundle.targets == groups.flatMap(\.targets))
        #expect(bundle.cause.eventID == groups[1].cause.eventID && bundle.expiresAt == Timestamp(milliseconds: 9))
    }
}
