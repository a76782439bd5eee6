import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// What the end of subscriptions writes at once, and what is swept later.
@Suite(.stores) struct TagRemovalTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    /// More than two batches of the sweep.
    private static let count = 5_000

    @Test func `removing a tag writes none of its subscriptions, and the sweep spares what is newer`() async throws {
        for isDeclared in [true, false] {
            if isDeclared { _ = try await scene.tags.putTag(Tag(id: "t"), in: scene.network) }
            try await fill(pool, "'t', 'user', 'u' || n")
            let before = try await subscriptions(pool)
            try await scene.tags.deleteTag("t", in: scene.network)
            #expect(try await subscriptions(pool) == before)
            #expect(try await subscribers(scene).isEmpty)
            _ = try await scene.tags.subscribe(.user("u7"), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
            #expect(try await subscribers(scene) == [.user("u7")])
            try await pool.housekeeper().sweep()
            #expect(try await pool.count("subscriptions") == 1)
            #expect(try await pool.count("tags") == 0, "nothing is left to say of it")
            #expect(try await subscribers(scene) == [.user("u7")])
            try await scene.tags.unsubscribe(.user("u7"), from: "t", in: scene.network, ifOwnedBy: nil)
        }
        try await scene.tags.deleteTag("unheard-of", in: scene.network)
        #expect(try await pool.count("tags") == 0)
    }

    @Test func `a tag that is declared again before the sweep stays declared`() async throws {
        _ = try await scene.tags.putTag(Tag(id: "t"), in: scene.network)
        try await fill(pool, "'t', 'user', 'u' || n")
        try await scene.tags.deleteTag("t", in: scene.network)
        _ = try await scene.tags.putTag(Tag(id: "t", description: "T"), in: scene.network)
        try await pool.housekeeper().sweep()
        #expect(try await pool.count("subscriptions") == 0)
        #expect(try await scene.tags.tag("t", in: scene.network)?.description == "T")
        try await pool.housekeeper().sweep()
        #expect(try await scene.tags.tag("t", in: scene.network) != nil)
    }

    @Test func `removing a user writes none of their subscriptions`() async throws {
        _ = try await scene.directory.putUser(Person(id: "a"), in: scene.network)
        try await fill(pool, "'t' || n, 'user', 'a'")
        let before = try await subscriptions(pool)
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        #expect(try await subscriptions(pool) == before)
        _ = try await scene.tags.subscribe(.user("a"), to: "new", in: scene.network, ifOwnedBy: nil, by: .admin)
        try await pool.housekeeper().sweep()
        #expect(try await pool.count("subscriptions") == 1)
    }

    @Test func `what devices leave behind that are gone or changed hands is found by and by`() async throws {
        for (device, user) in [("kept", "a"), ("moved", "a"), ("gone", "a")] as [(DeviceID, UserID)] {
            try await register(device, of: user, scene)
            _ = try await scene.tags.subscribe(.device(device), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
        }
        try await fill(pool, "'u', 'device', 'none' || n")
        try await register("moved", of: "b", scene)
        _ = try await scene.devices.deleteDevice("gone", ifOwnedBy: nil, in: scene.network)
        let housekeeper = pool.housekeeper()
        for _ in 0..<(Self.count / LeftoverSweep.pageSize + 2) { try await housekeeper.sweep() }
        #expect(try await pool.count("subscriptions") == 1)
        #expect(try await subscribers(scene) == [.device("kept")])
    }

    @Test func `somebody who is only known by subscribing stays`() async throws {
        for user in ["a", "b"] as [UserID] {
            _ = try await scene.tags.subscribe(.user(user), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
        }
        try await scene.tags.unsubscribe(.user("b"), from: "t", in: scene.network, ifOwnedBy: nil)
        try await pool.execute("UPDATE users SET added_at = now() - interval '31 days'")
        try await pool.housekeeper().sweep()
        #expect(try await scene.directory.user("a", in: scene.network) != nil)
        #expect(try await scene.directory.user("b", in: scene.network) == nil)
        #expect(try await subscribers(scene) == [.user("a")])
    }

    @Test func `a network takes its tags and subscriptions with it`() async throws {
        _ = try await scene.tags.putTag(Tag(id: "t"), in: scene.network)
        try await fill(pool, "'t', 'user', 'u' || n")
        _ = try await scene.accounts.deleteNetwork(scene.network)
        #expect(try await pool.count("tags") == 0)
        #expect(try await pool.count("subscriptions") == 0)
    }

    private func fill(_ pool: PostgresPool, _ columns: String) async throws {
        try await pool.execute(
            """
            INSERT INTO users (network_id, user_id, facts_at)
            SELECT 'acme', 'u' || n, 'epoch' FROM generate_series(1, \(Self.count)) n ON CONFLICT DO NOTHING
            """
        )
        try await pool.execute(
            """
            INSERT INTO subscriptions (network_id, tag, kind, subject_id)
            SELECT 'acme', \(sql: SQL(trusted: columns)) FROM generate_series(1, \(Self.count)) n
            """
        )
    }

    private func register(_ device: DeviceID, of user: UserID, _ scene: StoreScene) async throws {
        let device = Device(device, of: user)
        _ = try await scene.devices.putDevice(device, in: scene.network)
    }

    private func subscribers(_ scene: StoreScene) async throws -> [Subscriber] {
        try await scene.tags.subscribers(of: "t", in: scene.network, after: nil, limit: 10)
    }

    /// What identifies the version of every subscription.
    private func subscriptions(_ pool: PostgresPool) async throws -> [String] {
        try await pool.all("SELECT ctid::text || ' ' || xmin::text FROM subscriptions ORDER BY ctid", as: String.self)
    }
}
