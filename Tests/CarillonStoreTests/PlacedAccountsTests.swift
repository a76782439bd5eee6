import CarillonCore
import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

/// Networks that are made and deleted in several placements.
@Suite(.timeLimit(.minutes(2))) struct PlacedAccountsTests {
    private static let p1 = PlacementName("p1") ?? .home

    /// Home, and a placement beside it.
    private struct Stage {
        let home: StoreScene
        let away: StoreScene
        let accounts: PlacedAccounts
        let catalog: PostgresPlacementCatalog
        let directory: PlacementDirectory

        init(_ home: PostgresPool, _ away: PostgresPool) throws {
            self.home = try StoreScene(pool: home, patience: .milliseconds(200))
            self.away = try StoreScene(pool: away, patience: .milliseconds(200))
            let catalog = PostgresPlacementCatalog(pool: home)
            let directory = PlacementDirectory(catalog: catalog, logger: TestDatabase.logger)
            let ports = [
                PlacementName.home: try #require(self.home.accounts as? PostgresAccountStore),
                PlacedAccountsTests.p1: try #require(self.away.accounts as? PostgresAccountStore),
            ]
            let placed = Placed(ports) { network, access in
                try await directory.placement(of: network, for: access)
            }
            accounts = PlacedAccounts(placed, catalog: catalog, directory: directory)
            (self.catalog, self.directory) = (catalog, directory)
        }

        /// Asks for a network as the route does that makes one.
        func make(_ id: NetworkID, in placement: PlacementName? = nil, answering request: IdempotentRequest? = nil)
            async throws -> Creation
        {
            var credentials = NetworkCredentials.sample(id, name: "A network")
            credentials.network.placement = try await catalog.reserve(
                id,
                in: placement,
                among: [.home, PlacedAccountsTests.p1],
                for: request
            )
            return try await accounts.createNetwork(credentials, answering: request)
        }

        func fill(_ network: NetworkID) async throws {
            try await away.pool.execute(
                """
                INSERT INTO users (network_id, user_id, facts_at)
                SELECT \(network.rawValue), 'u' || n, 'epoch' FROM generate_series(1, 20) n
                """
            )
        }

        /// Changes home's list, which is known here then.
        func list(_ statement: SQL, of network: NetworkID) async throws {
            try await home.pool.write { session in
                try session.execute(statement)
                try session.countPlacementChange()
            }
            await directory.changed(in: network)
        }

        /// Moves a network; what it leaves is removed at once, or when somebody works on moves after `rest`.
        func move(_ network: NetworkID, to target: PlacementName, rest: Duration = .zero) async throws {
            let moves = PostgresMoveCatalog(pool: home.pool, rest: rest)
            _ = try await moves.begin(network, to: target)
            try await workOnMoves(rest: rest)
            let move = try await moves.last(of: network)
            #expect(move?.step == (rest == .zero ? .done : .purging), "\(move?.reason ?? "")")
            await directory.changed(in: network)
        }

        func workOnMoves(rest: Duration = .zero) async throws {
            let moves = PostgresMoveCatalog(pool: home.pool, rest: rest)
            let pools = [PlacementName.home: home.pool, PlacedAccountsTests.p1: away.pool]
            let mover = NetworkMover(catalog: moves, pools: pools, logger: TestDatabase.logger)
            while try await mover.work() {}
        }
    }

    /// Ends when what is left of a network is begun to be purged.
    private final class Time: Sendable {
        private struct State {
            var calls: Int?
            var isOver = false
        }

        private let state = Mutex(State())

        /// Whatever comes from now on behind the first call is too late.
        func begin() { state.withLock { $0.calls = 0 } }
        func end() { state.withLock { $0 = State() } }

        func deadline(countingCalls: Bool) -> ContinuousClock.Instant? {
            state.withLock { state in
                if countingCalls, let calls = state.calls {
                    state.calls = calls + 1
                    if calls > 0 { state.isOver = true }
                }
                return state.isOver ? .now : nil
            }
        }
    }

    private func withStage(within time: Time = Time(), _ body: (Stage) async throws -> Void) async throws {
        var (home, away) = (try await TestDatabase.make(), try await TestDatabase.make())
        home.deadline = { time.deadline(countingCalls: false) }
        away.deadline = { time.deadline(countingCalls: true) }
        try await TestDatabase.withPool(home) { home in
            try await TestDatabase.withPool(away) { away in
                let stage = try Stage(home, away)
                try await stage.catalog.enter([.home, Self.p1])
                _ = try await stage.catalog.setState(.open, of: Self.p1)
                try await body(stage)
            }
        }
    }

    @Test func `a network is deleted, and off the list, though there is no time to purge what was in it`() async throws
    {
        let time = Time()
        try await withStage(within: time) { stage in
            #expect(try await stage.make("acme", in: Self.p1) == .created)
            try await stage.fill("acme")
            time.begin()
            #expect(try await stage.accounts.deleteNetwork("acme"))
            time.end()
            #expect(try await stage.away.pool.count("users") == 20, "it is the next sweep's")
            #expect(try await stage.catalog.list(unless: nil)?.placements == [:])
            #expect(try await stage.accounts.deleteNetwork("acme") == false)
        }
    }

    @Test func `an id is not free while something is left of its former network in another placement`() async throws {
        try await withStage { stage in
            #expect(try await stage.make("acme", in: Self.p1) == .created)
            try await stage.fill("acme")
            let held = await stage.away.pool.hold("SELECT FROM users WHERE user_id = 'u7' FOR UPDATE")
            #expect(try await stage.accounts.deleteNetwork("acme"))
            for _ in 0..<2 { #expect(try await stage.make("acme", in: .home) == .beingDeleted) }
            #expect(try await stage.accounts.network("acme") == nil)
            // As home's housekeeping does with what was not made.
            try await stage.catalog.remove(["acme"], from: .home, olderThan: .zero)
            #expect(try await stage.make("acme", in: .home) == .beingDeleted)
            try await held.release()
            try await eventually("the id being free") { try await stage.make("acme", in: .home) == .created }
            #expect(try await stage.away.pool.count("users") == 0)
            #expect(try await stage.accounts.network("acme")?.placement == .home)
            #expect(try await stage.catalog.placementOfDeleted("acme") == nil)
        }
    }

    @Test func `an id is not free while its former network's move has left something, and has not moved then`()
        async throws
    {
        try await withStage { stage in
            let moves = PostgresMoveCatalog(pool: stage.home.pool)
            #expect(try await stage.make("acme", in: Self.p1) == .created)
            try await stage.fill("acme")
            try await stage.move("acme", to: .home, rest: .seconds(600))
            #expect(try await stage.accounts.deleteNetwork("acme"))
            #expect(try await moves.last(of: "acme") == nil)
            for _ in 0..<2 { #expect(try await stage.make("acme", in: .home) == .beingDeleted) }
            #expect(try await stage.away.pool.count("users") == 20)
            // As when whoever has moved it says nothing any more.
            try await stage.home.pool.execute("UPDATE network_moves SET held_until = NULL")
            try await stage.workOnMoves()
            #expect(try await stage.away.pool.count("users") == 0)
            #expect(try await stage.make("acme", in: .home) == .created)
            #expect(try await moves.last(of: "acme") == nil)
            #expect(try await moves.cancel("acme") == nil)
        }
    }

    @Test func `a network that is between two placements is not missing`() async throws {
        try await withStage { stage in
            #expect(try await stage.make("acme", in: Self.p1) == .created)
            // As it is between what is said to the former placement and what is said at home.
            try await stage.list("UPDATE placed_networks SET state = 'moving'", of: "acme")
            let fence = MoveFence(network: "acme", pool: stage.away.pool)
            #expect(try await fence.set(.gone, after: [nil]))
            await #expect(throws: PlacementProblem.moving) { try await stage.accounts.network("acme") }
            await #expect(throws: PlacementProblem.moving) { try await stage.accounts.credentials(of: "acme") }
            // Keys are asked for together with those of other networks, whose answers do not wait for this one's.
            let names = Set(["acme", "other"].map { APIKeyName(networkID: NetworkID(trusted: $0), id: "new") })
            #expect(try await stage.accounts.existingAPIKeys(names) == [])
        }
    }

    @Test func `networks of a placement whose URL is not known here are missed by name`() async throws {
        try await withStage { stage in
            #expect(try await stage.make("acme", in: Self.p1) == .created)
            try await stage.list("UPDATE placed_networks SET placement = 'p9'", of: "acme")
            let page = try await stage.accounts.networks(after: nil, limit: 10)
            #expect(page.incomplete.map(\.rawValue) == ["p9"])
        }
    }

    @Test func `a request that made a network is answered the same when that has moved, and when it was deleted`()
        async throws
    {
        try await withStage { stage in
            var request = IdempotentRequest(networkID: nil, keyHash: [1], bodyHash: [1], answer: Array("first".utf8))
            #expect(try await stage.make("acme", in: Self.p1, answering: request) == .created)
            let former = Creation.repeated(answer: request.answer)
            request.answer = Array("second".utf8)
            #expect(try await stage.make("acme", in: Self.p1, answering: request) == former)
            try await stage.move("acme", to: .home)
            _ = try await stage.catalog.setState(.leaving, of: Self.p1)
            #expect(try await stage.make("acme", answering: request) == former)
            #expect(try await stage.make("acme") == .refused)
            #expect(try await stage.accounts.deleteNetwork("acme"))
            #expect(try await stage.make("acme", answering: request) == former)
            for scene in [stage.home, stage.away] { #expect(try await scene.pool.count("networks") == 0) }
        }
    }
}
