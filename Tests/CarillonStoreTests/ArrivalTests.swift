import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What somebody brings who had a move in hand, slept, and has not heard that the move is over.
@Suite(.stores, .timeLimit(.minutes(5))) struct ArrivalTests {
    private let scene = StoreScene.here

    /// Has a move be cancelled while somebody has read the network's row and is about to write it elsewhere, who sleeps through that; answers
    /// how that goes on.
    private func sleeper(_ stage: MoveStage) async throws -> (wake: () async throws -> Void, move: NetworkMove) {
        try await stage.source.fillForMove(people: 3)
        _ = try await stage.catalog.begin(stage.network, to: MoveStage.p1)
        let (late, other) = (stage.mover(), stage.mover())
        var move = try #require(try await stage.take(late.holder))
        for _ in 0..<2 { try await late.advance(&move) }
        try #require(move.step == .copying)
        let target = MoveFence(network: stage.network, pool: stage.target.pool)
        let first = try await page(of: "networks", stage)
        try await stage.source.pool.execute("UPDATE network_moves SET held_until = now() - interval '1 second'")
        try #require(try await stage.take(other.holder) != nil)
        _ = try await stage.catalog.cancel(stage.network)
        while try await other.work() {}
        try #require(try await stage.catalog.last(of: stage.network)?.step == .cancelled)
        _ = try await stage.source.toggles.updateToggles(.network, in: stage.network, by: .admin, expected: nil) { _ in
            ["channels": ["since"]]
        }
        try await stage.source.letGo()
        return ({ [move] in try await target.insert(first.1, of: first.0, by: move) }, move)
    }

    private func page(of name: String, _ stage: MoveStage) async throws -> (MovedTable, MovedRows) {
        let pool = stage.source.pool
        let table = try await pool.withConnection { session in try session.movedTables().first { $0.name == name } }
        let found = try #require(table)
        let page = try await pool.withConnection { session in
            try found.page(of: stage.network, after: nil, limit: 10, session)
        }
        return (found, page)
    }

    @Test func `what arrives without a move is removed`() async throws {
        try await MoveStage.with(scene) { stage in
            try await sleeper(stage).wake()
            let target = MoveFence(network: stage.network, pool: stage.target.pool)
            #expect(try await target.gate() == MoveGate.arriving.rawValue)
            try await eventually("nothing of it being there") {
                try await stage.mover().mend()
                return try await target.gate() == nil
            }
            try await eventually("its name being free") {
                try await FormerNetworks(pool: target.pool, rest: .zero).purge(stage.network)
                return try await target.pool.count("former_networks") == 0
            }
            #expect(try await target.pool.count("arrivals") == 0)
            try await expectMove(stage)
        }
    }

    @Test func `what has arrived with a former move is not what the next one brings`() async throws {
        try await MoveStage.with(scene) { stage in
            try await sleeper(stage).wake()
            try await expectMove(stage)
        }
    }

    @Test func `whoever brings what another move brings already adds nothing to it`() async throws {
        try await MoveStage.with(scene) { stage in
            let (wake, former) = try await sleeper(stage)
            let target = MoveFence(network: stage.network, pool: stage.target.pool)
            _ = try await stage.catalog.begin(stage.network, to: MoveStage.p1)
            let mover = stage.mover()
            var move = try #require(try await stage.take(mover.holder))
            for _ in 0..<2 { try await mover.advance(&move) }
            let networks = try await page(of: "networks", stage)
            try await target.insert(networks.1, of: networks.0, by: move)
            let users = try await page(of: "users", stage)
            await #expect(throws: MoveLost.self) { try await wake() }
            await #expect(throws: MoveLost.self) { try await target.insert(users.1, of: users.0, by: former) }
            #expect(try await target.pool.count("users") == 0)
            try await mover.advance(&move)
            #expect(move.step == .switching)
            try await stage.source.pool.execute("UPDATE network_moves SET held_until = now() - interval '1 second'")
            try await stage.finish()
            #expect(try await stage.catalog.last(of: stage.network)?.step == .done)
        }
    }

    /// Has the network move, with what it is now.
    private func expectMove(_ stage: MoveStage) async throws {
        let before = try await stage.rows(in: stage.source)
        let move = try await stage.move()
        #expect(move.step == .done, "\(move.reason ?? "")")
        let after = try await stage.rows(in: stage.target)
        #expect(after == before)
        #expect(after["networks"]?.first?.contains("since") == true)
    }
}
