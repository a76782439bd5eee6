import CarillonCore
import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

/// What a move looks at first, and what it says of what is in its way.
@Suite(.stores, .timeLimit(.minutes(5))) struct MoveCheckTests {
    private let scene = StoreScene.here

    @Test func `who holds a table that has to be changed is named, with what to do about it`() async throws {
        try await MoveStage.with(scene) { stage in
            let source = stage.source
            try await source.accept(.message("c", from: Person(id: "a")))
            // It stays as long as it likes.
            let held = await source.pool.hold(
                """
                UPDATE users SET deleted = deleted
                WHERE set_config('idle_in_transaction_session_timeout', '0', true) IS NULL
                """
            )
            let process = try await source.pool.first(
                """
                SELECT pid FROM pg_locks
                WHERE relation = 'users'::regclass AND mode = 'RowExclusiveLock' AND granted
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """,
                as: Int32.self
            )
            let told = Mutex<[MoveObstacle]>([])
            let obstacle = await #expect(throws: MoveObstacle.self) {
                try await MoveFence(network: stage.network, pool: source.pool, attempts: 16).raise { obstacle in
                    if let obstacle { told.withLock { $0.append(obstacle) } }
                }
            }
            #expect(told.withLock(\.self).map(\.subject) == [.table("users")], "while it waits")
            #expect(obstacle?.subject == .table("users"))
            #expect(obstacle?.holders.map(\.process).first == process)
            let words = obstacle?.description ?? ""
            #expect(words.contains("table users: others hold a lock there"), "\(words)")
            #expect(words.contains("pg_terminate_backend(\(process ?? 0))"), "\(words)")
            #expect(!words.contains("55P03"))
            try await held.release()
            try await source.letGo()
            #expect(try await stage.move().step == .done)
        }
    }

    @Test func `what is in the way of the network's own row is said to be that`() async throws {
        try await MoveStage.with(scene) { stage in
            let pool = stage.source.pool
            let fence = MoveFence(network: stage.network, pool: pool, attempts: 2)
            let held = await pool.hold(
                """
                SELECT set_config('idle_in_transaction_session_timeout', '0', true) FROM networks
                WHERE network_id = \(stage.network.rawValue) FOR UPDATE
                """
            )
            let obstacle = await #expect(throws: MoveObstacle.self) {
                _ = try await fence.set(.draining, after: [nil])
            }
            #expect(obstacle?.subject == .network)
            #expect(obstacle?.holders.isEmpty == false)
            try await held.release()
            #expect(try await fence.set(.draining, after: [nil]))
        }
    }

    @Test func `nothing is refused for a move between placements whose clocks are far apart`() async throws {
        var configuration = try await TestDatabase.make()
        configuration.sessionSettings["search_path"] = "public,pg_catalog"
        try await MoveStage.with(scene, target: configuration) { stage in
            try await stage.target.pool.script(
                """
                CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                    AS 'SELECT pg_catalog.clock_timestamp() + interval ''1 hour'''
                """
            )
            let move = try await stage.move()
            #expect(move.step == .cancelled)
            #expect(move.reason?.contains("clock") == true, "\(move.reason ?? "")")
            #expect(move.reason?.contains("ahead of") == true, "\(move.reason ?? "")")
            #expect(move.frozen == .zero)
            #expect(try await MoveFence.networks(in: stage.source.pool).isEmpty)
            try await stage.target.pool.script("DROP FUNCTION public.clock_timestamp()")
            #expect(try await stage.move().step == .done)
        }
    }

    @Test func `nothing is moved into a database that is not the placement, which its networks are in`() async throws {
        try await MoveStage.with(scene) { stage in
            let p1 = MoveStage.p1
            #expect(try await stage.list.adopt(p1, identity: PlacementIdentity.id(stage.target.pool)))
            _ = try await stage.list.setState(.open, of: p1)
            _ = try await stage.list.reserve("neighbour", in: p1, among: [.home, p1], for: nil)
            try await stage.source.fillForMove(people: 3)
            try await TestDatabase.withPool { other in
                try await other.execute("UPDATE placements_self SET id = gen_random_uuid()")
                _ = try await stage.catalog.begin(stage.network, to: p1)
                let mistaken = NetworkMover(
                    catalog: stage.catalog,
                    pools: [.home: stage.source.pool, p1: other],
                    logger: TestDatabase.logger
                )
                while try await mistaken.work() {}
                let move = try #require(try await stage.catalog.last(of: stage.network))
                #expect(move.step == .cancelled)
                #expect(move.reason?.contains("placement p1 is another database") == true, "\(move.reason ?? "")")
                #expect(move.frozen == .zero)
                #expect(try await MoveFence.networks(in: other).isEmpty)
                for table in ["networks", "users", "former_networks"] { #expect(try await other.count(table) == 0) }

                // Nor is one brought back there, or anything of it removed, by whoever goes on.
                _ = try await stage.catalog.begin(stage.network, to: p1)
                let right = stage.mover()
                var begun = try #require(try await stage.take(right.holder))
                for _ in 0..<3 { try await right.advance(&begun) }
                try await stage.catalog.leave(begun, for: .zero, by: right.holder)
                while try await mistaken.work() {}
                #expect(try await stage.catalog.last(of: stage.network)?.step == .switching)
                #expect(try await other.count("networks") == 0)
            }
            try await stage.source.pool.execute("UPDATE network_moves SET held_until = now() - interval '1 second'")
            try await stage.finish()
            #expect(try await stage.catalog.last(of: stage.network)?.step == .done)
            #expect(try await stage.target.accounts.network(stage.network) != nil)
        }
    }

    @Test func `clocks are far apart that are so whatever the looks took`() {
        func skew(_ milliseconds: Int64, in took: Int64 = 0) -> ClockSkew {
            let before = Timestamp(milliseconds: 10_000)
            return ClockSkew(
                before: before,
                database: before + .milliseconds(milliseconds + took / 2),
                after: before + .milliseconds(took)
            )
        }
        #expect(skew(500).excess(over: skew(0)) == nil)
        #expect(skew(501).excess(over: skew(0)) == 501)
        #expect(skew(-300).excess(over: skew(300)) == -600)
        #expect(skew(-300, in: 100).excess(over: skew(300, in: 100)) == nil)
        #expect(skew(-301, in: 100).excess(over: skew(300, in: 100)) == -601)
        #expect(skew(5_000).excess(over: skew(5_000)) == nil)
    }
}
