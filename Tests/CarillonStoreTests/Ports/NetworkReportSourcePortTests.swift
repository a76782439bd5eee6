import CarillonCore
import CarillonTesting
import Foundation
import Testing

/// What ``NetworkReportSource`` promises.
@Suite(.stores) struct NetworkReportSourcePortTests {
    let scene = StoreScene.here

    @Test func `all networks are found, by their ids`() async throws {
        #expect(try await scene.reportSource.namedNetworks().map(\.id) == [scene.network, scene.otherNetwork])
    }

    private func troubles(_ scene: StoreScene, at now: Timestamp = .seconds(0)) async throws -> [String] {
        let found = try await scene.reportSource.troubles(of: [scene.network, scene.otherNetwork], at: now)
        #expect(found[scene.otherNetwork] == nil)
        return (found[scene.network] ?? []).map { "\($0.kind.rawValue) \($0.name): \($0.detail)" }.sorted()
    }

    private func certificate(until end: Timestamp) -> ProviderCredential {
        ProviderCredential.sample(.apns, "com.acme", ["notAfter": .string(end.description)])
    }

    @Test func `what is wrong with a network is found, and nothing of others`() async throws {
        #expect(try await troubles(scene).isEmpty)
        let lane = Lane(networkID: scene.network, provider: .fcm, appID: "app")
        let relay = Lane("e-9", in: scene.network)
        let targets = [try await scene.target("d-1", of: "a"), try await scene.target("d-2", of: "b")]
        try await scene.enqueue(to: targets.map { [$0] })
        try await scene.passTime()
        for group in try await scene.claim() {
            _ = try await scene.queue.settle([.all(group.group, .dead, reason: "bad payload")])
        }
        for lane in [lane, relay] {
            _ = try await scene.queue.apply(.pause(for: .seconds(60), reason: "403"), to: LaneSelection(lane))
        }
        try await add("e-1", in: scene)
        _ = try await scene.endpoints.updateEndpoint("e-1", of: scene.network) { endpoint in
            var changed = endpoint
            changed.set(.disabled, reason: "http 410", at: .seconds(9))
            return changed
        }
        try await fail("s-1", in: scene)
        let end = Timestamp.seconds(86_400)
        _ = try await scene.credentials.putProviderCredential(certificate(until: end), of: scene.network)
        let expected = [
            "credential apns/com.acme: the certificate ends at \(end)",
            "credential fcm/app: there are devices and no credential, so that nothing is sent to them",
            "deadLetters fcm/app: 2 dead letters", "endpoint e-1: disabled: http 410", "lane fcm/app: 403",
            "source s-1: failed 2 times in a row: http 500",
        ]
        let found = try await troubles(scene)
        #expect(found == expected)
        let inTime = Timestamp.seconds(-40 * 86_400)
        #expect(try await troubles(scene, at: inTime) == Array(expected.dropFirst()))
        #expect(try await troubles(scene, at: end)[0].hasSuffix("the certificate ended at \(end)"))
        let sources = try await scene.reportSource.troubles(of: [scene.network], at: inTime)[scene.network] ?? []
        #expect(sources.first { $0.kind == .source }?.since != nil)
        #expect(try await scene.reportSource.troubles(of: [], at: inTime).isEmpty)
    }

    private func add(_ id: EndpointID, in scene: StoreScene) async throws {
        let endpoint = Endpoint.sample(id)
        let creation = try await scene.endpoints.addEndpoint(
            endpoint,
            secret: .generate(),
            of: scene.network,
            answering: nil
        )
        #expect(creation == .created)
    }

    private func fail(_ id: SourceID, in scene: StoreScene) async throws {
        let settings = SourceSettings(url: "https://backend.example", interval: 60)
        _ = try await scene.sources.putSource(id, settings, secret: .generate(), of: scene.network)
        for _ in 1...2 {
            let source = try #require(try await scene.polls.claimSources(limit: 9, share: 9, busy: [:]).first)
            try await scene.polls.release(source, after: .zero, .failed("http 500"))
        }
    }

    @Test func `what is well again is no trouble`() async throws {
        let lane = Lane(networkID: scene.network, provider: .fcm, appID: "app")
        _ = try await scene.queue.apply(.pause(for: .zero, reason: "403"), to: LaneSelection(lane))
        _ = try await scene.queue.apply(.resume, to: LaneSelection(lane))
        try await fail("s-1", in: scene)
        let source = try #require(try await scene.polls.claimSources(limit: 9, share: 9, busy: [:]).first)
        try await scene.polls.release(source, after: .zero, .succeeded)
        _ = try await scene.target("d-1", of: "a")
        let credential = ProviderCredential.sample(.fcm, "app")
        _ = try await scene.credentials.putProviderCredential(credential, of: scene.network)
        try await add("e-1", in: scene)
        #expect(try await troubles(scene).isEmpty)
    }

    @Test func `what is due has been waiting, network by network`() async throws {
        #expect(try await scene.reportSource.oldestWaits(of: [scene.network]).isEmpty)
        try await scene.enqueue(to: [[try await scene.target("d-1", of: "a")]])
        try await scene.passTime()
        #expect(
            try await scene.reportSource.oldestWaits(of: [scene.network, "other"]).keys.map(\.self) == [scene.network]
        )
        #expect(try await scene.reportSource.oldestWaits(of: ["other"]).isEmpty)
    }

    private func row(_ network: NetworkID, _ number: Int64, at second: Int64, _ replica: UUID) -> StatisticsRow {
        let origin = StatisticsRow.Origin(replica: replica, number: number)
        return StatisticsRow(networkID: network, at: .seconds(second), origin: origin, figures: StatisticsFigures())
    }

    @Test func `figures are those of networks in which posts are refused, and of those asked for`() async throws {
        let replica = UUID()
        var refusing = row(scene.network, 1, at: 60, replica)
        refusing.figures.posts["events", default: .init()].all = 9
        refusing.figures.posts["events"]?.refused = 2
        var others = row(scene.network, 2, at: 120, replica)
        others.figures.posts["events", default: .init()].all = 5
        var calm = row(scene.otherNetwork, 3, at: 60, replica)
        calm.figures.posts["events", default: .init()].all = 7
        try await scene.statistics.write([refusing, others, calm])
        func found(
            since second: Int64,
            asked: Set<NetworkID> = [],
            without known: [StatisticsRow] = []
        ) async throws -> [NetworkID: Int] {
            let rows = try await scene.reportSource.figures(
                of: [scene.network, scene.otherNetwork],
                refusingSince: .seconds(second),
                asked: asked,
                without: known
            )
            return Dictionary(rows.map { ($0.networkID, $0.figures.posts["events"]?.all ?? 0) }, uniquingKeysWith: +)
        }
        #expect(try await found(since: 0) == [scene.network: 14])
        #expect(try await found(since: 0, asked: [scene.otherNetwork]) == [scene.network: 14, scene.otherNetwork: 7])
        #expect(try await found(since: 120) == [:])
        #expect(try await found(since: 0, without: [others]) == [scene.network: 9])
        #expect(try await found(since: 0, without: [refusing]) == [:])
    }

    @Test func `events are counted since a moment, but for those that are known`() async throws {
        let replica = UUID()
        var (early, late) = (row(scene.network, 1, at: 0, replica), row(scene.network, 2, at: 3_600, replica))
        early.figures.events[.messageSent, default: .init()].accepted = 3
        late.figures.events[.messageSent, default: .init()].accepted = 4
        late.figures.events[.memberJoined, default: .init()].accepted = 5
        try await scene.statistics.write([early, late])
        func activity(since second: Int64, without known: [StatisticsRow] = []) async throws -> [NetworkActivity?] {
            let networks = [scene.network, scene.otherNetwork]
            let found = try await scene.reportSource.activities(of: networks, since: .seconds(second), without: known)
            return networks.map { found[$0] }
        }
        #expect(try await activity(since: 0).map { $0?.events } == [12, 0])
        #expect(try await activity(since: 60).map { $0?.events } == [9, 0])
        #expect(try await activity(since: 60, without: [late]).map { $0?.events } == [0, 0])
        let pending = try await scene.pending(.message("c", from: Person(id: "z")))
        #expect(try await scene.queue.enqueue([Expansion(event: pending, groups: [], next: nil)]) == [true])
        let now = WallClock.system.now() - .seconds(3_600)
        let today = try await scene.reportSource.activities(
            of: [scene.network, scene.otherNetwork],
            since: now,
            without: []
        )
        #expect(today[scene.network] == NetworkActivity(isOfLastDay: true, isKnown: true))
        #expect(today[scene.otherNetwork] == NetworkActivity())
        let later = try await scene.reportSource.activities(
            of: [scene.network],
            since: now + .seconds(2 * 86_400),
            without: []
        )
        #expect(later[scene.network] == NetworkActivity(isKnown: true))
    }
}
