import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// A network that moves from one placement to another.
@Suite(.stores, .timeLimit(.minutes(5))) struct NetworkMoverTests {
    private static let p1 = MoveStage.p1

    /// Where networks begin, which is home.
    private let scene = StoreScene.here

    private func withStage(_ body: (MoveStage) async throws -> Void) async throws {
        try await MoveStage.with(scene, body)
    }

    @Test func `everything of a network is in its new placement, and nothing where it was`() async throws {
        try await withStage { stage in
            try await stage.source.fillForMove()
            let before = try await stage.rows(in: stage.source)
            let move = try await stage.move()
            #expect(move.step == .done)
            #expect(move.rows >= 3_000)
            #expect(try await stage.rows(in: stage.target) == before)
            #expect(try await stage.rows(in: stage.source).values.allSatisfy(\.isEmpty))
            #expect(
                try await stage.list.list(unless: nil)?.placements == [
                    stage.network: Self.p1, scene.otherNetwork: .home,
                ]
            )
            #expect(try await stage.list.list(unless: nil)?.moving == [])
            try await stage.awaitNoFences()
            await #expect(throws: MoveProblem.switched) { _ = try await stage.catalog.cancel(stage.network) }
            // It goes on there: what waited is due, and new events find its members.
            #expect(try await stage.target.claim().count == 1)
            #expect(try await stage.target.inbox.claimEvents(limit: 10).count == 3)
            let members = try await stage.target.members(of: "c")
            #expect(members == ["alice", "bob", "sender"])
            #expect(try await stage.source.accounts.network(stage.network) == nil)
        }
    }

    @Test(arguments: 0..<4) func `whoever goes on with a move that was cut off ends it`(steps: Int) async throws {
        try await withStage { stage in
            try await stage.source.fillForMove(people: 100)
            let before = try await stage.rows(in: stage.source)
            _ = try await stage.catalog.begin(stage.network, to: Self.p1)
            let lost = stage.mover()
            var move = try #require(try await stage.take(lost.holder))
            for _ in 0..<steps { try await lost.advance(&move) }
            #expect(move.step == [.draining, .fenced, .copying, .switching][steps])
            #expect(try await stage.take(UUID()) == nil, "somebody holds it")
            try await stage.source.pool.execute("UPDATE network_moves SET held_until = now() - interval '1 second'")
            try await stage.finish()
            #expect(try await stage.catalog.last(of: stage.network)?.step == .done)
            #expect(try await stage.rows(in: stage.target) == before)
            // Who held it before does nothing any more.
            await #expect(throws: MoveLost.self) { _ = try await stage.catalog.hold(move, by: lost.holder) }
        }
    }

    @Test(arguments: 0..<4) func `a network that is wanted back goes on where it was, up to the switch`(steps: Int)
        async throws
    {
        try await withStage { stage in
            try await stage.source.fillForMove(people: 100)
            let before = try await stage.rows(in: stage.source)
            _ = try await stage.catalog.begin(stage.network, to: Self.p1)
            let mover = stage.mover()
            var move = try #require(try await stage.take(mover.holder))
            for _ in 0..<steps { try await mover.advance(&move) }
            if steps == 3 {
                await #expect(throws: MoveProblem.switched) { _ = try await stage.catalog.cancel(stage.network) }
                return
            }
            #expect(try await stage.catalog.cancel(stage.network)?.isCancelled == true)
            while try await mover.work() {}
            let last = try #require(try await stage.catalog.last(of: stage.network))
            #expect(last.step == .cancelled)
            #expect(try await stage.catalog.cancel(stage.network) == nil)
            #expect(try await stage.rows(in: stage.source) == before)
            #expect(try await stage.rows(in: stage.target).values.allSatisfy(\.isEmpty))
            _ = try await stage.source.directory.addMember("carl", to: "c", in: stage.network)
            #expect(try await stage.source.inbox.claimEvents(limit: 10).count == 3)
            // And it may go after all.
            try await stage.source.letGo()
            #expect(try await stage.move().step == .done)
        }
    }

    @Test func `whoever has not heard of a move writes nothing, and others' work beside it is done`() async throws {
        try await withStage { stage in
            try await stage.source.fillForMove(people: 10)
            _ = try await stage.catalog.begin(stage.network, to: Self.p1)
            let mover = stage.mover()
            var move = try #require(try await stage.take(mover.holder))
            try await mover.advance(&move)
            let (scene, other) = (stage.source, stage.source.inOtherNetwork())
            func isRefused(_ body: () async throws -> Void) async throws -> Bool {
                do { try await body() } catch let error as PostgresError { return error.isOfMovingNetwork }
                return false
            }
            #expect(try await isRefused { _ = try await scene.accept(.message("c", from: Person(id: "a"), at: 9)) })
            #expect(try await isRefused { _ = try await scene.target("d3", of: "bob") })
            #expect(
                try await isRefused { _ = try await scene.devices.deleteDevice("d", ifOwnedBy: nil, in: scene.network) }
            )
            #expect(try await isRefused { _ = try await scene.accounts.deleteNetwork(scene.network) })
            #expect(
                try await isRefused {
                    _ = try await scene.toggles.updateToggles(.network, in: scene.network, by: .admin, expected: nil) {
                        _ in [:]
                    }
                }
            )
            #expect(try await isRefused { _ = try await scene.directory.addMember("carl", to: "c", in: scene.network) })
            _ = try await other.accept(.message("c", from: Person(id: "a"), at: 9))
            _ = try await other.target("d", of: "bob")
            #expect(try await scene.inbox.claimEvents(limit: 10).map(\.networkID) == [other.network])
            #expect(try await scene.claim().isEmpty)
            let housekeeper = scene.pool.housekeeper()
            try await housekeeper.sweep()
            // It can be read.
            #expect(try await scene.accounts.network(scene.network) != nil)
            #expect(try await scene.accounts.networks(after: nil, limit: 10).networks.count == 2)
            try await mover.advance(&move)
            try await mover.advance(&move)
            #expect(try await stage.target.accounts.network(scene.network) == nil, "it has not arrived")
            #expect(try await stage.target.accounts.networks(after: nil, limit: 10).networks.isEmpty)
            #expect(try await stage.target.inbox.claimEvents(limit: 10).isEmpty)
            #expect(try await stage.target.claim().isEmpty)
            try await mover.advance(&move)
            #expect(try await isRefused { _ = try await scene.target("d4", of: "bob") })
            #expect(try await scene.accounts.networks(after: nil, limit: 10).networks.map(\.id) == [other.network])
        }
    }

    @Test func `what somebody has in hand is waited for, and not held for longer`() async throws {
        try await withStage { stage in
            try await stage.source.enqueue(to: [[try await stage.source.target("d", of: "bob")]])
            let held = try await stage.source.claimOne()
            _ = try await stage.catalog.begin(stage.network, to: Self.p1)
            async let moved: Void = stage.finish()
            try await eventually("the network being drained") {
                try await stage.source.pool.first(
                    "SELECT away FROM networks WHERE network_id = \(stage.network.rawValue)",
                    as: String?.self
                )
                    == "draining"
            }
            #expect(try await stage.source.queue.renew([held]) == RenewedLeases())
            #expect(try await stage.catalog.last(of: stage.network)?.step == .draining)
            try await stage.source.queue.release([held], after: .zero)
            try await moved
            #expect(try await stage.catalog.last(of: stage.network)?.step == .done)
            #expect(try await stage.target.claim().map(\.group.id) == [held.id])
        }
    }

    @Test func `what somebody has in hand stays in their hands when the network is called back`() async throws {
        try await withStage { stage in
            let source = stage.source
            try await source.enqueue(to: [[try await source.target("d", of: "bob")]])
            try await source.enqueue(to: [[try await source.target("d2", of: "bob")]])
            let held = try #require(try await source.claim(limit: 1).first?.group)
            _ = try await stage.catalog.begin(stage.network, to: Self.p1)
            async let moved: Void = stage.finish()
            try await eventually("the network being drained") {
                try await MoveFence(network: stage.network, pool: source.pool).gate() == "draining"
            }
            _ = try await stage.catalog.cancel(stage.network)
            try await moved
            #expect(try await stage.catalog.last(of: stage.network)?.step == .cancelled)
            let claimed = try await source.claim().map(\.group.id)
            #expect(claimed.count == 1 && !claimed.contains(held.id))
            #expect(try await source.queue.renew([held]).renewed == [held.id])
        }
    }

    @Test func `whoever has lost a move changes nothing any more`() async throws {
        try await withStage { stage in
            try await stage.source.fillForMove(people: 10)
            _ = try await stage.catalog.begin(stage.network, to: Self.p1)
            let (lost, other) = (stage.mover(), stage.mover())
            var move = try #require(try await stage.take(lost.holder))
            for _ in 0..<2 { try await lost.advance(&move) }
            try await stage.source.pool.execute("UPDATE network_moves SET held_until = now() - interval '1 second'")
            #expect(try await stage.take(other.holder) != nil)
            await #expect(throws: MoveLost.self) { try await stage.catalog.freeze(move, by: lost.holder) }
            #expect(try await !stage.catalog.enter(.copying, move, by: lost.holder))
            for step in [NetworkMove.Step.cancelled, .purging] {
                await #expect(throws: MoveLost.self) {
                    _ = try await stage.catalog.settle(move, in: step, by: lost.holder)
                }
            }
            _ = try await stage.catalog.cancel(stage.network)
            while try await other.work() {}
            #expect(try await stage.catalog.last(of: stage.network)?.step == .cancelled)
            await #expect(throws: MoveLost.self) { try await stage.catalog.freeze(move, by: lost.holder) }
            move.step = .switching
            await #expect(throws: MoveLost.self) { try await lost.advance(&move) }
            #expect(try await stage.list.list(unless: nil)?.moving == [])
            #expect(try await stage.source.accounts.network(stage.network) != nil)
            #expect(try await stage.target.accounts.network(stage.network) == nil)
        }
    }

    @Test func `whoever leaves a move that somebody else has taken leaves it to them`() async throws {
        try await withStage { stage in
            _ = try await stage.catalog.begin(stage.network, to: Self.p1)
            let (late, holder) = (UUID(), UUID())
            let move = try #require(try await stage.take(late))
            try await stage.source.pool.execute("UPDATE network_moves SET held_until = now() - interval '1 second'")
            #expect(try await stage.take(holder) != nil)
            try await stage.catalog.leave(move, for: .zero, by: late)
            #expect(try await stage.catalog.hold(move, by: holder).step == .draining)
            try await stage.catalog.leave(move, for: .zero, by: holder)
            await #expect(throws: MoveLost.self) { _ = try await stage.catalog.hold(move, by: holder) }
        }
    }

    @Test func `members that were learnt before are members where marks are smaller`() async throws {
        try await withStage { stage in
            try await stage.source.pool.script("SELECT setval('marks', 40960000)")
            _ = try await stage.source.pending(.created("c", by: "alice", members: ["alice", "bob"]))
            try await stage.source.letGo()
            #expect(try await stage.move().step == .done)
            let message = try await stage.target.pending(.message("c", from: Person(id: "alice"), at: 9))
            let query = RecipientQuery(
                networkID: stage.network,
                eventID: message.id,
                mark: message.mark,
                event: message.event
            )
            let page = try await stage.target.recipients.page(for: query)
            #expect(page.recipients.map(\.userID) == ["alice", "bob"])
            let numbers = try await stage.target.pool.first("SELECT last_value FROM marks", as: Int64.self)
            #expect(try #require(numbers) > 40_960_000)
        }
    }

    @Test func `a placement that a busier one's network comes to is not taken for a copy without sequences`()
        async throws
    {
        try await withStage { stage in
            try await stage.source.pool.script("SELECT setval('marks', 40960000)")
            _ = try await stage.source.pending(.created("c", by: "alice", members: ["alice", "bob"]))
            try await stage.source.letGo()
            try await stage.target.pool.script("ALTER TABLE users ADD CONSTRAINT broken CHECK (false) NOT VALID")
            _ = try await stage.catalog.begin(stage.network, to: Self.p1)
            let mover = stage.mover()
            var move = try #require(try await stage.take(mover.holder))
            while move.step != .copying { try await mover.advance(&move) }
            await #expect(throws: PostgresError.self) { try await mover.advance(&move) }
            #expect(try await stage.target.pool.count("members") == 2, "it is cut off in the middle")
            #expect(try await SequencesBehind.look(stage.target.pool) == nil)
        }
    }

    @Test func `what another network has left under a name of its is out of the way`() async throws {
        try await withStage { stage in
            try await stage.source.bind("com.acme", stage.network)
            try await stage.target.pool.execute(
                "INSERT INTO networks (network_id, created_at, away) VALUES ('departed', now(), 'gone')"
            )
            try await stage.target.pool.execute(
                """
                INSERT INTO faces (face, external_id, scope, network_id, settings, updated_at)
                VALUES ('matrix', 'com.acme', '', 'departed', '{}', now())
                """
            )
            let move = try await stage.move()
            #expect(move.step == .done, "\(move.reason ?? "")")
            #expect(try await stage.target.faces.faceBindings(of: stage.network).map(\.externalID) == ["com.acme"])
        }
    }

    @Test func `a placement that cannot take it, or has what must be unique, keeps nothing of it`() async throws {
        try await withStage { stage in
            try await stage.source.fillForMove(people: 10)
            let before = try await stage.rows(in: stage.source)
            try await stage.target.pool.script(
                "ALTER TABLE users ADD CONSTRAINT full_disk CHECK (user_id <> 'u7') NOT VALID"
            )
            var move = try await stage.move()
            #expect(move.step == .cancelled)
            #expect(move.reason?.isEmpty == false)
            #expect(try await stage.rows(in: stage.source) == before)
            #expect(try await stage.rows(in: stage.target).values.allSatisfy(\.isEmpty))
            try await stage.target.pool.script("ALTER TABLE users DROP CONSTRAINT full_disk")
            // A name elsewhere that somebody has there already.
            try await stage.target.accounts.createNetwork(Network(id: "squatter", createdAt: WallClock.system.now()))
            try await stage.target.bind("com.acme", "squatter")
            move = try await stage.move()
            #expect(move.step == .cancelled)
            #expect(move.reason?.contains("table faces") == true)
            #expect(try await stage.rows(in: stage.source) == before)
            #expect(try await stage.target.faces.faceBindings(of: "squatter").count == 1)
            // A network of that id.
            _ = try await stage.target.accounts.deleteNetwork("squatter")
            try await stage.target.accounts.createNetwork(Network(id: stage.network, createdAt: WallClock.system.now()))
            move = try await stage.move()
            #expect(move.step == .cancelled)
            #expect(try await stage.target.accounts.network(stage.network) != nil)
        }
    }

    @Test func `a network goes there and back, and what it left is out of the way`() async throws {
        try await withStage { stage in
            try await stage.source.fillForMove(people: 10)
            let before = try await stage.rows(in: stage.source)
            let lazy = PostgresMoveCatalog(pool: stage.source.pool)
            let mover = NetworkMover(
                catalog: lazy,
                pools: [.home: stage.source.pool, Self.p1: stage.target.pool],
                logger: TestDatabase.logger
            )
            for target in [Self.p1, .home, Self.p1] {
                #expect(try await lazy.begin(stage.network, to: target)?.hasBegun == true)
                await #expect(throws: MoveProblem.inProgress) { _ = try await lazy.begin(stage.network, to: target) }
                while try await mover.work() {}
                let move = try #require(try await lazy.last(of: stage.network))
                #expect(move.step == .purging)
                #expect(try await lazy.begin(stage.network, to: target)?.hasBegun == false, "it is there")
            }
            #expect(try await stage.rows(in: stage.target) == before)
            // Who asks where it was finds nothing, and makes nothing of its name.
            #expect(try await stage.source.accounts.network(stage.network) == nil)
            #expect(try await stage.source.faceList.faceList(unless: nil)?.bindings.isEmpty == true)
            // With the network goes what it has left.
            _ = try await stage.target.accounts.deleteNetwork(stage.network)
            try await stage.list.remove([stage.network], from: Self.p1, olderThan: .zero)
            while try await mover.work() {}
            #expect(try await stage.rows(in: stage.source).values.allSatisfy(\.isEmpty))
            #expect(try await stage.list.list(unless: nil)?.placements == [scene.otherNetwork: .home])
        }
    }

    @Test func `a fence of somebody who slept through the end of a move is removed`() async throws {
        try await withStage { stage in
            try await stage.source.fillForMove(people: 10)
            let late = MoveFence(network: stage.network, pool: stage.source.pool)
            try await late.raise { _ in }
            #expect(try await late.set(.draining, after: [nil]))
            let held = try await stage.source.inOtherNetwork().accept(
                .message("c", from: Person(id: "a"), at: 1),
                leased: true
            )
            let mover = stage.mover()
            try await stage.awaitNoFences()
            _ = try await stage.source.accept(.message("c", from: Person(id: "a"), at: 8))
            #expect(try await stage.source.inbox.claimEvents(limit: 10).count == 4)
            #expect(held.count == 1, "others' work stays in their hands")
            // One that moves keeps its own.
            try await stage.source.letGo()
            _ = try await stage.catalog.begin(stage.network, to: Self.p1)
            var move = try #require(try await stage.take(mover.holder))
            try await mover.advance(&move)
            try await stage.mover().mend()
            #expect(try await MoveFence.networks(in: stage.source.pool) == [stage.network])
        }
    }

    @Test func `a network that is gone, or nowhere, is not moved`() async throws {
        try await withStage { stage in
            #expect(try await stage.catalog.begin("nobody", to: Self.p1) == nil)
            #expect(try await stage.catalog.last(of: stage.network) == nil)
            #expect(try await stage.catalog.cancel(stage.network) == nil)
            _ = try await stage.source.accounts.deleteNetwork(stage.network)
            let move = try await stage.move()
            #expect(move.step == .cancelled)
            #expect(move.reason?.contains("not in placement default") == true)
        }
    }
}
