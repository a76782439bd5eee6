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

    private func fences(_ scene: StoreScene) async throws -> Set<NetworkID> {
        try await MoveFence.networks(in: scene.pool)
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

    @Test func `nobody takes a move over whose mover has one thing to do that takes long`() async throws {
        try await MoveStage.with(scene) { stage in
            let catalog = PostgresMoveCatalog(pool: stage.source.pool, rest: .zero, holdTime: .seconds(4))
            let (mover, other) = (stage.mover(of: catalog), stage.mover(of: catalog))
            _ = try await catalog.begin(stage.network, to: MoveStage.p1)
            let move = try #require(try await catalog.take(mover.holder, among: [.home, MoveStage.p1]))
            let end = ContinuousClock.now + .seconds(6)
            let isOver = Task { try await mover.whileHeld(move) { try await Task.sleep(until: end) } }
            while .now < end - .milliseconds(500) {
                #expect(try await other.work() == false)
                try await Task.sleep(for: .milliseconds(100))
            }
            try await isOver.value
            // Who has lost it stops.
            try await catalog.leave(move, for: .zero, by: mover.holder)
            await #expect(throws: MoveLost.self) {
                try await mover.whileHeld(move) { try await Task.sleep(for: .seconds(60)) }
            }
            while try await other.work() {}
            #expect(try await catalog.last(of: stage.network)?.step == .done)
        }
    }

    @Test func `whoever waits for a network until it is removed is refused`() async throws {
        try await MoveStage.with(scene) { stage in
            let source = stage.source
            try await stage.moveWithoutRemoval()
            let removal = await source.holdRemoval()
            let late = Task {
                try await source.inbox.accept([source.incoming(message("late"))], lockWait: .seconds(60))
            }
            try await eventually("somebody who waits for the network's row") {
                try await source.pool.isAnybodyWaiting()
            }
            try await removal.release()
            await #expect(throws: PlacementProblem.moving) { _ = try await late.value }
            #expect(try await source.pool.count("event_keys") == 0)
        }
    }

    @Test func `a network goes on where it was, without another attempt, when there is no room where it was to go`()
        async throws
    {
        try await MoveStage.with(scene) { stage in
            try await stage.source.fillForMove(people: 10)
            let before = try await stage.rows(in: stage.source)
            try await stage.target.pool.script(
                """
                CREATE SEQUENCE attempts;
                CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    PERFORM nextval('attempts');
                    RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100';
                END
                $$;
                CREATE TRIGGER fill_disk BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION fill_disk();
                """
            )
            let move = try await stage.move()
            #expect(move.step == .cancelled)
            #expect(move.reason?.contains("53100") == true, "\(move.reason ?? "")")
            #expect(try await stage.target.pool.first("SELECT last_value FROM attempts", as: Int64.self) == 1)
            #expect(try await stage.rows(in: stage.source) == before)
            #expect(try await stage.rows(in: stage.target).values.allSatisfy(\.isEmpty))
            try await stage.source.accept(message("on"))
            try await stage.target.pool.script("DROP TRIGGER fill_disk ON users")
            try await stage.source.letGo()
            #expect(try await stage.move().step == .done)
        }
    }

    @Test func `nothing is refused for a move to where tables or secrets would not be understood`() async throws {
        try await MoveStage.with(scene) { stage in
            try await stage.source.accept(message("before"))
            try await stage.source.letGo()
            func expectRefusal(_ words: String) async throws {
                let move = try await stage.move()
                #expect(move.step == .cancelled)
                #expect(move.reason?.contains(words) == true, "\(move.reason ?? "")")
                #expect(move.frozen == .zero)
                #expect(try await fences(stage.source).isEmpty)
                #expect(try await stage.list.list(unless: nil)?.moving == [])
            }
            try await stage.source.pool.script(
                "INSERT INTO master_key_canary (sealed) VALUES ('\\x01aaaaaaaa0000')"
            )
            try await stage.target.pool.script(
                "INSERT INTO master_key_canary (sealed) VALUES ('\\x01bbbbbbbb0000')"
            )
            try await expectRefusal("master key")
            // The same key, and never the same bytes behind its name.
            try await stage.target.pool.script("UPDATE master_key_canary SET sealed = '\\x01aaaaaaaa1111'")
            try await stage.target.pool.script("INSERT INTO schema_migrations VALUES (9999, '9999_later', 'x', now())")
            try await expectRefusal("different releases")
            try await stage.target.pool.script("DELETE FROM schema_migrations WHERE version = 9999")
            #expect(try await stage.move().step == .done)
        }
    }

    @Test func `of moves of one network that are begun at once one begins`() async throws {
        try await MoveStage.with(scene) { stage in
            let begun = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        do {
                            return try await stage.catalog.begin(stage.network, to: MoveStage.p1)?.hasBegun == true
                        } catch MoveProblem.inProgress {
                            return false
                        }
                    }
                }
                return try await group.reduce(into: 0) { count, hasBegun in count += hasBegun ? 1 : 0 }
            }
            #expect(begun == 1)
            try await stage.finish()
            #expect(try await stage.catalog.last(of: stage.network)?.step == .done)
        }
    }

    @Test func `a network that is deleted while its fence is made is gone, and in nobody's way`() async throws {
        try await MoveStage.with(scene) { stage in
            try await stage.source.accept(message("before"))
            _ = try await stage.catalog.begin(stage.network, to: MoveStage.p1)
            let mover = stage.mover()
            let move = try #require(try await stage.take(mover.holder))
            for scene in [stage.source, stage.target] {
                try await MoveFence(network: stage.network, pool: scene.pool).raise { _ in }
            }
            try await stage.catalog.freeze(move, by: mover.holder)
            // Whoever had not heard of that yet. It stays on the list, since it moves.
            #expect(try await stage.source.accounts.deleteNetwork(stage.network))
            try await stage.list.remove([stage.network], from: .home, olderThan: .zero)
            while try await mover.work() {}
            #expect(try await stage.catalog.last(of: stage.network)?.step == .cancelled)
            try await stage.awaitNoFences()
            for scene in [stage.source, stage.target] {
                #expect(try await departed(scene) == [])
                #expect(try await scene.pool.count("former_networks") == 0)
            }
            let pools = [PlacementName.home: stage.source.pool, MoveStage.p1: stage.target.pool]
            let sweep = PlacementSweep(
                catalog: stage.list,
                pools: Placed(pools) { _, _ in .home },
                logger: TestDatabase.logger
            )
            await sweep.sweep(patience: .zero)
            #expect(try await stage.list.list(unless: nil)?.placements == [scene.otherNetwork: .home])
            let network = Network(id: stage.network, createdAt: WallClock.system.now())
            #expect(try await stage.source.accounts.createNetwork(network))
        }
    }
}
