import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What comes in the way of a network that moves, and what comes for it where it was.
@Suite(.stores, .timeLimit(.minutes(5))) struct MoveTroubleTests {
    /// Where networks begin, which is home.
    private let scene = StoreScene.here

    private func message(_ id: String) -> Event { .message("c", from: Person(id: "a"), id: id) }

    /// The networks of which a placement knows that they have left it.
    private func departed(_ scene: StoreScene) async throws -> [String] {
        try await scene.pool.all("SELECT network_id FROM departed_networks ORDER BY 1", as: String.self)
    }

    @Test
    func `where a network has left, what comes for it is refused for good, and where it was deleted it is dropped`()
        async throws
    {
        try await MoveStage.with(scene) { stage in
            let (source, target) = (stage.source, stage.target)
            try await source.accept(message("before"))
            try await source.letGo()
            #expect(try await stage.move().step == .done)
            #expect(try await source.pool.count("former_networks") == 0, "nothing else is known of it")
            await #expect(throws: PlacementProblem.moving) { try await source.accept(message("late")) }
            let neighbour = source.incoming(message("beside"), in: source.otherNetwork)
            await #expect(throws: PlacementProblem.moving) {
                _ = try await source.inbox.accept([source.incoming(message("late")), neighbour])
            }
            #expect(try await source.pool.count("event_keys") == 0)
            #expect(try await source.inbox.accept([neighbour]).count == 1)

            try await target.letGo()
            #expect(try await stage.move(to: .home).step == .done)
            #expect(try await departed(source) == [])
            #expect(try await departed(target) == [stage.network.rawValue])
            try await source.accept(message("back"))
            #expect(try await source.accounts.deleteNetwork(stage.network))
            try await source.accept(message("nobody's"))
            #expect(try await source.pool.count("event_keys") == 1, "the neighbour's")

            // One of its id that is made where it has been is another network.
            let network = Network(id: stage.network, createdAt: WallClock.system.now())
            #expect(try await target.accounts.createNetwork(network))
            #expect(try await departed(target) == [])
            #expect(try await target.accounts.deleteNetwork(stage.network))
            try await target.accept(message("nobody's"))
        }
    }

    @Test func `whoever waits for a network until it is removed is refused`() async throws {
        try await MoveStage.with(scene) { stage in
            let source = stage.source
            let lazy = PostgresMoveCatalog(pool: source.pool)
            _ = try await lazy.begin(stage.network, to: MoveStage.p1)
            let mover = stage.mover(of: lazy)
            while try await mover.work() {}
            // It is there, and says that it has left.
            let held = await source.pool.hold(
                """
                WITH removed AS (
                    DELETE FROM networks
                    WHERE network_id = \(stage.network.rawValue) AND set_config('carillon.mover', 'on', true) = 'on'
                    RETURNING network_id
                )
                INSERT INTO departed_networks (network_id) SELECT network_id FROM removed
                """
            )
            let late = Task {
                try await source.inbox.accept([source.incoming(message("late"))], lockWait: .seconds(60))
            }
            try await eventually("somebody who waits for the network's row") {
                try await source.pool.first(
                    """
                    SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
                                   WHERE NOT l.granted AND a.datname = current_database())
                    """,
                    as: Bool.self
                ) == true
            }
            try await held.release()
            await #expect(throws: PlacementProblem.moving) { _ = try await late.value }
            #expect(try await source.pool.count("event_keys") == 0)
        }
    }
}
