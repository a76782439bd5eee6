import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// The fence of a network that moves: who makes it, and who removes what is left of it.
@Suite(.stores, .timeLimit(.minutes(5))) struct MoveFenceTests {
    private let scene = StoreScene.here

    @Test func `nobody removes the fence of a network that moves, whoever believes that it does not`() async throws {
        let fence = MoveFence(network: scene.network, pool: scene.pool)
        try await fence.raise { _ in }
        let all = try await fence.tablesToFence()
        #expect(try await fence.fencedTables() == all)
        for gate in [MoveGate.draining, .out, .gone] {
            #expect(try await fence.set(gate, after: [nil, .draining, .out]))
            try await fence.lower()
            #expect(try await fence.fencedTables() == all, "\(gate)")
        }
        #expect(try await fence.set(nil, after: [.gone]))
        try await eventually("a fence that keeps nobody from anything being removed") {
            try await fence.lower()
            return try await fence.fencedTables().isEmpty
        }
    }

    @Test func `what somebody still removes of a former fence is made anew before anything is copied`() async throws {
        try await MoveStage.with(scene) { stage in
            try await stage.source.fillForMove(people: 10)
            let fences = [stage.source, stage.target].map { MoveFence(network: stage.network, pool: $0.pool) }
            _ = try await stage.catalog.begin(stage.network, to: MoveStage.p1)
            // Whoever had a former move in hand, which is over: the triggers are made, and let everybody through.
            let mover = stage.mover(changed: { _ in for fence in fences { try? await fence.lower() } })
            var move = try #require(try await stage.take(mover.holder))
            try await mover.advance(&move)
            #expect(try await fences[0].fencedTables() == fences[0].tablesToFence())
            for _ in 0..<2 { try await mover.advance(&move) }
            #expect(move.step == .switching)
            for fence in fences { #expect(try await fence.fencedTables() == fence.tablesToFence()) }
        }
    }

    @Test func `a table that somebody reads for long keeps what is left of a fence until they have ended`() async throws
    {
        try await MoveStage.with(scene) { stage in
            try await stage.source.fillForMove(people: 10)
            // As a backup does, of which whoever made a trigger takes no notice.
            let reader = await stage.source.pool.hold("LOCK TABLE tags IN ACCESS SHARE MODE")
            #expect(try await stage.move().step == .done)
            let fence = MoveFence(network: stage.network, pool: stage.source.pool)
            try await eventually("all other tables being free") {
                try await stage.mover().mend()
                return try await fence.fencedTables() == ["tags"]
            }
            #expect(
                try await stage.rows(in: stage.source).values.allSatisfy(\.isEmpty),
                "the fence keeps nothing there"
            )
            try await reader.release()
            try await stage.awaitNoFences()
        }
    }

    @Test func `what is left of fences is removed in each placement that answers`() async throws {
        try await MoveStage.with(scene) { stage in
            for scene in [stage.source, stage.target] {
                try await MoveFence(network: stage.network, pool: scene.pool).raise { _ in }
            }
            #expect(
                try await MoveFence(network: stage.network, pool: stage.source.pool).set(.draining, after: [nil])
            )
            var nowhere = try PostgresConfiguration(url: "host=/nowhere dbname=nobody")
            nowhere.acquireTimeout = .milliseconds(50)
            try await TestDatabase.withPool(nowhere) { away in
                var pools = [PlacementName.home: stage.source.pool, MoveStage.p1: stage.target.pool]
                for number in 2...12 { pools[try #require(PlacementName("p\(number)"))] = away }
                let mover = NetworkMover(catalog: stage.catalog, pools: pools, logger: TestDatabase.logger)
                try await eventually("no fence being left") {
                    try await mover.mend()
                    return try await stage.fences().isEmpty
                }
            }
            #expect(try await MoveFence(network: stage.network, pool: stage.source.pool).gate() == "")
        }
    }
}

extension MoveFence {
    /// The tables that a fence is around.
    fileprivate func tablesToFence() async throws -> Set<String> {
        let tables = try await pool.withConnection { session in try session.movedTables().filter(\.isFenced) }
        return Set(tables.map(\.name))
    }
}
