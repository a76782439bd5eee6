import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// The bounds on the work of replays.
@Suite(.stores) struct ReplayTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }
    private static let start = WallClock.system.now() - .seconds(600)

    private func keep(_ count: Int, in network: NetworkID, _ scene: StoreScene, _ pool: PostgresPool) async throws {
        let ids = (0..<count).map { _ in scene.ids.next() }
        try await pool.execute(
            """
            INSERT INTO relayed (network_id, event_id, event_type, received_at, body)
            SELECT \(network.rawValue), n.id, 'message.sent', now(), '{}' FROM unnest(\(ids)) AS n (id)
            """
        )
    }

    private func add(_ id: EndpointID, to network: NetworkID? = nil, _ scene: StoreScene) async throws {
        try await scene.endpoints.addEndpoint(.sample(id), to: network ?? scene.network)
    }

    /// Orders a replay of one body in each of two networks, of which the first comes before the other.
    private func orderTwo(_ history: PostgresRelayHistory, _ scene: StoreScene) async throws {
        for network in [scene.network, scene.otherNetwork] {
            try await add("e-1", to: network, scene)
            try await keep(1, in: network, scene, pool)
            #expect(try await history.beginReplay(order, to: "e-1", in: network) == ReplayCount(events: 1))
        }
        #expect(scene.network.rawValue < scene.otherNetwork.rawValue)
    }

    /// The networks that have replays.
    private func replaying(_ pool: PostgresPool) async throws -> [String] {
        try await pool.all("SELECT network_id FROM replays ORDER BY network_id", as: String.self)
    }

    private var order: ReplayOrder {
        let end = WallClock.system.now() + .seconds(60)
        return ReplayOrder(from: Self.start, to: end, types: ["message.sent"], onlyFailed: false)
    }

    @Test func `a replay is counted as far as the bound, and told of to the end`() async throws {
        let history = PostgresRelayHistory(scene.databases, mostCounted: 4)
        let replays = PostgresReplays(pool: pool, ids: scene.ids, replaysAtOnce: 10)
        try await add("e-1", scene)
        for (kept, expected) in [(4, ReplayCount(events: 4)), (1, ReplayCount(events: 4, hasMore: true))] {
            try await keep(kept, in: scene.network, scene, pool)
            #expect(try await history.beginReplay(order, to: "e-1", in: scene.network) == expected)
            while try await replays.continueReplays() {}
        }
        #expect(try await pool.count("replays") == 0)
        let messages = try await pool.first("SELECT sum(size) FROM deliveries", as: Int.self)
        #expect(messages == 5)
    }

    @Test func `a replay that cannot go on keeps none behind it from their turn`() async throws {
        let history = PostgresRelayHistory(scene.databases, mostCounted: 100)
        let replays = PostgresReplays(pool: pool, ids: scene.ids, replaysAtOnce: 1)
        for id: EndpointID in ["e-1", "e-2", "e-3"] { try await add(id, scene) }
        try await keep(1, in: scene.network, scene, pool)
        // For the first one as much waits as may.
        let waiting = (0..<replayBacklog).map { _ in
            DeliveryGroup.message(about: EventID(scene.ids.next()), in: scene.network, id: scene.ids.next())
        }
        try await pool.withConnection { session in try session.insert(waiting) }
        for id: EndpointID in ["e-1", "e-2", "e-3"] {
            _ = try await history.beginReplay(order, to: id, in: scene.network)
        }
        while try await replays.continueReplays() {}
        let queued = try await pool.all("SELECT DISTINCT app_id FROM deliveries ORDER BY app_id", as: String.self)
        #expect(queued == ["e-1", "e-2", "e-3"])
        #expect(try await pool.count("replays") == 1, "the first one's goes on when there is room")
    }

    @Test func `a replay to an endpoint that cannot be read keeps nobody else's from going on`() async throws {
        let replays = PostgresReplays(pool: pool, ids: scene.ids)
        try await orderTwo(PostgresRelayHistory(scene.databases), scene)
        try await pool.execute("UPDATE endpoints SET settings = '{}' WHERE network_id = \(scene.network.rawValue)")
        await #expect(throws: StoreError.self) { try await replays.continueReplays() }
        #expect(try await replaying(pool) == [scene.network.rawValue])
        #expect(
            try await pool.all("SELECT network_id FROM deliveries", as: String.self) == [scene.otherNetwork.rawValue]
        )
    }

    @Test func `the replay of a network that moves waits, and nobody else's`() async throws {
        let replays = PostgresReplays(pool: pool, ids: scene.ids)
        try await orderTwo(PostgresRelayHistory(scene.databases), scene)
        let (fence, network) = (MoveFence(network: scene.network, pool: pool), scene.network.rawValue)
        try await fence.raise { _ in }
        try await pool.execute("UPDATE networks SET away = 'out' WHERE network_id = \(network)")
        while try await replays.continueReplays() {}
        #expect(try await replaying(pool) == [network])
        _ = try await fence.asMover { session in
            try session.execute("UPDATE networks SET away = NULL WHERE network_id = \(network)")
        }
        while try await replays.continueReplays() {}
        #expect(try await replaying(pool).isEmpty)
        #expect(try await pool.count("deliveries") == 2)
    }

    @Test func `a replay that cannot be noted is not gone on with at once`() async throws {
        let replays = PostgresReplays(pool: pool, ids: scene.ids)
        try await add("e-1", scene)
        try await keep(3_000, in: scene.network, scene, pool)
        var none = order
        none.types = ["user.deleted"]
        _ = try await PostgresRelayHistory(scene.databases).beginReplay(none, to: "e-1", in: scene.network)
        // As where a network begins to move behind the look for replays.
        try await pool.script(
            """
            CREATE FUNCTION pass_over() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$;
            CREATE TRIGGER passing_over BEFORE UPDATE ON replays FOR EACH ROW EXECUTE FUNCTION pass_over();
            """
        )
        #expect(try await !replays.continueReplays())
        try await pool.script("DROP TRIGGER passing_over ON replays")
        #expect(try await replays.continueReplays())
        #expect(try await !replays.continueReplays())
        #expect(try await pool.count("replays") == 0)
    }

    @Test func `what waits for endpoints that are gone is swept, and nothing else`() async throws {
        try await add("e-2", scene)
        for id: EndpointID in ["e-1", "e-2", "e-3"] {
            let event = EventID(scene.ids.next())
            let group = DeliveryGroup.message(about: event, to: id, in: scene.network, id: scene.ids.next())
            try await pool.withConnection { session in try session.insert([group]) }
        }
        try await RelaySweep(pool: pool).sweep()
        #expect(try await scene.claim().map(\.group.lane.appID) == ["e-2"])
    }
}
