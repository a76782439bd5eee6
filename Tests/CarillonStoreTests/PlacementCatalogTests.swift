import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// Home's list of who is where.
@Suite(.stores) struct PlacementCatalogTests {
    private let scene = StoreScene.here
    private let p1 = PlacementName("p1") ?? .home
    private let p2 = PlacementName("p2") ?? .home
    private var catalog: PostgresPlacementCatalog { PostgresPlacementCatalog(pool: scene.pool) }
    private var all: [PlacementName] { [.home, p1, p2] }

    private func request(_ key: UInt8, _ body: UInt8) -> IdempotentRequest {
        IdempotentRequest(networkID: nil, keyHash: [key], bodyHash: [body], answer: [])
    }

    @Test func `the first start with several lists what home has, and new placements take nothing yet`() async throws {
        #expect(try await catalog.networkElsewhere() == nil)
        for _ in 1...2 { try await catalog.enter(all) }
        #expect(
            try await catalog.records() == [
                PlacementRecord(name: .home, state: .open, networks: 2),
                PlacementRecord(name: p1, state: .full, networks: 0),
                PlacementRecord(name: p2, state: .full, networks: 0),
            ]
        )
        let list = try #require(try await catalog.list(unless: nil))
        #expect(list.placements == [scene.network: .home, scene.otherNetwork: .home])
        #expect(try await catalog.list(unless: list.version) == nil)
        await #expect(throws: PlacementProblem.full(p1)) {
            try await catalog.reserve("n", in: p1, among: all, for: nil)
        }
    }

    @Test func `a network goes where it is wanted, or to the open placement with the fewest`() async throws {
        try await catalog.enter(all)
        #expect(try await catalog.setState(.open, of: p1))
        #expect(try await catalog.setState(.open, of: p2))
        #expect(try await !catalog.setState(.open, of: PlacementName("p3") ?? .home))
        #expect(try await catalog.reserve("n1", in: p2, among: all, for: nil) == p2)
        #expect(try await catalog.reserve("n2", in: nil, among: all, for: nil) == p1)
        #expect(try await catalog.reserve("n3", in: nil, among: all, for: nil) == p1)
        #expect(try await catalog.reserve("n4", in: nil, among: [.home, p1], for: nil) == .home)
        // Wherever it is wanted now, it is where it was decided to be.
        #expect(try await catalog.reserve("n1", in: p1, among: all, for: nil) == p2)
        for name in all { _ = try await catalog.setState(.leaving, of: name) }
        await #expect(throws: PlacementProblem.full(nil)) {
            try await catalog.reserve("n5", in: nil, among: all, for: nil)
        }
        #expect(try await catalog.networkElsewhere()?.network == "n1")
    }

    @Test func `a request that makes a network is known by its key at home, wherever its network goes`() async throws {
        try await catalog.enter(all)
        #expect(try await catalog.reserve("n1", in: nil, among: all, for: request(1, 1)) == .home)
        #expect(try await catalog.reserve("n1", in: nil, among: all, for: request(1, 1)) == .home)
        await #expect(throws: IdempotentRequest.Failure.differentBody) {
            try await catalog.reserve("n2", in: nil, among: all, for: request(1, 2))
        }
        #expect(try await catalog.list(unless: nil)?.placements["n2"] == nil)
        try await scene.pool.script("UPDATE network_requests SET created_at = now() - interval '25 hours'")
        #expect(try await catalog.reserve("n2", in: nil, among: all, for: request(1, 2)) == .home)
    }

    @Test func `a network that home made while it knew of no other is home's`() async throws {
        try await catalog.enter(all)
        _ = try await catalog.setState(.open, of: p1)
        try await scene.accounts.createNetwork(Network(id: "late", createdAt: WallClock.system.now()))
        #expect(try await catalog.reserve("late", in: p1, among: all, for: nil) == .home)
    }

    @Test func `the sweep removes what is not there, confirms what is, and leaves alone what is being made`()
        async throws
    {
        try await catalog.enter(all)
        _ = try await catalog.reserve("making", in: nil, among: all, for: nil)
        try await scene.accounts.createNetwork(Network(id: "made", createdAt: WallClock.system.now()))
        _ = try await catalog.reserve("made", in: nil, among: all, for: nil)
        try await scene.pool.script("UPDATE placed_networks SET state = 'making' WHERE network_id = 'made'")
        let sweep = PlacementSweep(catalog: catalog, pools: Placed(scene.pool), logger: TestDatabase.logger)
        await sweep.sweep(patience: .seconds(60))
        #expect(try await catalog.list(unless: nil)?.placements.count == 4)
        await sweep.sweep(patience: .zero)
        let left = try #require(try await catalog.list(unless: nil)).placements.keys
        #expect(Set(left) == [scene.network, scene.otherNetwork, "made"])
        let making = try await scene.pool.execute("SELECT FROM placed_networks WHERE state = 'making'")
        #expect(making == 0)
    }

    @Test func `a placement with networks is the database that it was, and one without may be another`() async throws {
        #expect(try await catalog.adopt(p1, identity: "a"), "it was not listed")
        try await catalog.enter(all)
        _ = try await catalog.setState(.open, of: p1)
        #expect(try await catalog.adopt(p1, identity: "a"))
        #expect(try await catalog.adopt(p1, identity: "b"), "it has no network")
        _ = try await catalog.reserve("n1", in: p1, among: all, for: nil)
        #expect(try await catalog.adopt(p1, identity: "b"))
        #expect(try await !catalog.adopt(p1, identity: "a"))
        let pools = Placed([p1: scene.pool]) { [p1] _, _ in p1 }
        await PlacementSweep(catalog: catalog, pools: pools, logger: TestDatabase.logger).sweep(patience: .zero)
        #expect(try await catalog.list(unless: nil)?.placements["n1"] == p1, "it is missing in another database")
    }

    @Test func `a name is one network's over all placements, and goes with it`() async throws {
        try await scene.pool.execute(
            """
            INSERT INTO faces (face, external_id, scope, network_id, settings, updated_at)
            VALUES ('ably', 'app.key', '', \(scene.network.rawValue), '{}', now())
            """
        )
        try await catalog.enter(all)
        let names = FaceNames(pool: scene.pool)
        let name = ClaimedName(.binding, of: .ably, "app.key")
        #expect(try await names.claim(name, for: scene.network) == .held)
        #expect(try await names.claim(name, for: "n1") == .refused)
        let key = ClaimedName(.key, of: .ably, "app.key")
        #expect(try await names.claim(key, for: "n1") == .made)
        try await names.release(key, of: scene.network)
        #expect(try await names.claim(key, for: scene.network) == .refused)
        try await names.release(key, of: "n1")
        #expect(try await names.claim(key, for: scene.network) == .made)
        try await catalog.remove([scene.network], from: .home, olderThan: .zero)
        #expect(try await names.claim(name, for: "n1") == .made)
    }
}
