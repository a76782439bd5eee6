import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// Home, and a placement beside it.
struct MoveStage: Sendable {
    static let p1 = PlacementName("p1") ?? .home

    let source: StoreScene
    let target: StoreScene
    var network: NetworkID { source.network }
    var catalog: PostgresMoveCatalog { PostgresMoveCatalog(pool: source.pool, rest: .zero) }
    var list: PostgresPlacementCatalog { PostgresPlacementCatalog(pool: source.pool) }

    func mover(
        of catalog: PostgresMoveCatalog? = nil,
        changed: @escaping @Sendable (NetworkID) async -> Void = { _ in }
    ) -> NetworkMover {
        NetworkMover(
            catalog: catalog ?? self.catalog,
            pools: [.home: source.pool, Self.p1: target.pool],
            logger: TestDatabase.logger,
            changed: changed
        )
    }

    func take(_ holder: UUID) async throws -> NetworkMove? {
        try await catalog.take(holder, among: [.home, Self.p1])
    }

    /// Has a mover do all there is to do.
    func finish() async throws {
        let mover = mover()
        while try await mover.work() {}
    }

    func move(to target: PlacementName = Self.p1) async throws -> NetworkMove {
        _ = try await catalog.begin(network, to: target)
        try await finish()
        return try #require(try await catalog.last(of: network))
    }

    /// Has the network be in its new placement, and what it has left behind its fence where it was.
    func moveWithoutRemoval() async throws {
        let lazy = PostgresMoveCatalog(pool: source.pool)
        _ = try await lazy.begin(network, to: Self.p1)
        let mover = mover(of: lazy)
        while try await mover.work() {}
        try #require(try await lazy.last(of: network)?.step == .purging)
    }

    /// The networks that have a fence anywhere.
    func fences() async throws -> Set<NetworkID> {
        let source = try await MoveFence.networks(in: source.pool)
        return source.union(try await MoveFence.networks(in: target.pool))
    }

    /// Waits until no fence is left: a table that somebody is at, as PostgreSQL's own housekeeping is, is left to whoever mends.
    func awaitNoFences() async throws {
        try await eventually("no fence being left") {
            try await mover().mend()
            return try await fences().isEmpty
        }
    }

    /// The rows of the network in each table that is moved, as text.
    func rows(in scene: StoreScene) async throws -> [String: [String]] {
        let network = network
        return try await scene.pool.withConnection { session in
            try session.movedTables().filter(\.isMoved).reduce(into: [:]) { rows, table in
                // What says whose turn it is, and whether the network is here, is another afterwards.
                rows[table.name] = try session.query(
                    .unprepared(
                        """
                        SELECT (to_jsonb(t) - 'away' - 'leased' - 'lease_token' - 'run_at')::text
                        FROM \(identifier: table.name) t WHERE network_id = \(network.rawValue) ORDER BY 1
                        """
                    )
                ) { row in try row.decode(0, as: String.self) }
            }
        }
    }
}

extension MoveStage {
    /// Lends a stage whose network is at home, in the scene of a test.
    static func with(
        _ scene: StoreScene,
        target configuration: PostgresConfiguration? = nil,
        _ body: (MoveStage) async throws -> Void
    ) async throws {
        try await TestDatabase.withPool(configuration) { pool in
            let stage = MoveStage(source: scene, target: try StoreScene(pool: pool))
            try await stage.list.enter([.home, p1])
            try await body(stage)
        }
    }
}

extension StoreScene {
    /// Gives the network a name elsewhere.
    func bind(_ name: String, _ network: NetworkID) async throws {
        let binding = FaceBinding(.matrix, name, of: network, ["x": 1], at: .seconds(5))
        _ = try await faces.putFaceBinding(binding, claiming: true)
    }

    /// Begins to remove a network that has left.
    func holdRemoval() async -> HeldRows {
        await pool.hold(
            """
            WITH removed AS (
                DELETE FROM networks
                WHERE network_id = \(network.rawValue) AND set_config('carillon.mover', 'on', true) = 'on'
                RETURNING network_id
            )
            INSERT INTO departed_networks (network_id) SELECT network_id FROM removed
            """
        )
    }

    /// Nobody holds anything.
    func letGo() async throws {
        for queue in ["inbox", "deliveries"] {
            try await pool.execute("UPDATE \(identifier: queue) SET leased = false, run_at = now()")
        }
    }

    /// Has something of many kinds.
    func fillForMove(people: Int = 3_000) async throws {
        try await accept(
            .created("c", by: "alice", members: ["alice", "bob"]),
            .message("c", from: Person(id: "alice"), at: 1, channelName: "Règles \"du\" jeu")
        )
        _ = try await target("d", of: "bob")
        _ = try await toggles.updateToggles(.network, in: network, by: .admin, expected: nil) { _ in
            ["channels": ["x"]]
        }
        _ = try await tags.putTag(Tag(id: "news", description: "News"), in: network)
        _ = try await endpoints.addEndpoint(
            .sample("e-1", description: "Bot"),
            secret: .generate(),
            of: network,
            answering: nil
        )
        try await bind("com.acme", network)
        try await enqueue(to: [[try await target("d2", of: "bob")]])
        try await accept(.message("c", from: Person(id: "alice"), at: 2))
        try await letGo()
        try await pool.execute(
            """
            INSERT INTO users (network_id, user_id, facts_at, display_name)
            SELECT \(network.rawValue), 'u' || n, 'epoch', 'Name ' || n || E' \\'"\\n' FROM generate_series(1, \(people)) n
            """
        )
    }
}
