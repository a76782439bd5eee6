import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// The numbers by which a delivery in memory learns of what was switched meanwhile.
@Suite(.stores, .timeLimit(.minutes(2))) struct ChangeCounterTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test func `replicas of this release and of the former one see what the other changes`() async throws {
        let point = try await scene.readPoint()
        let snapshot = try #require(try await pool.first("SELECT pg_current_snapshot()::text", as: String.self))
        try await pool.execute("INSERT INTO changes (network_id, user_id) VALUES ('acme', 'former')")
        try await scene.toggles.set(.user("present"), to: [:], in: scene.network)
        #expect(try await scene.queue.changes(since: [(scene.network, point)]) == [.users(["former", "present"])])
        let found = try await pool.all(
            """
            SELECT c.user_id FROM changes c
            WHERE c.network_id = 'acme' AND c.xid >= pg_snapshot_xmin(\(snapshot)::pg_snapshot)
                AND NOT pg_visible_in_snapshot(c.xid, \(snapshot)::pg_snapshot)
            """,
            as: String.self
        )
        #expect(Set(found) == ["former", "present"])
    }

    @Test func `what counts waits for what has counted in the same network, and its number is the next`() async throws {
        let held = await pool.hold("INSERT INTO changes (network_id, user_id) VALUES ('acme', 'slow')")
        try await scene.toggles.set(.user("a"), to: [:], in: scene.otherNetwork)
        async let waiting: Void = scene.toggles.set(.user("b"), to: [:], in: scene.network)
        try await eventually {
            try await pool.first("SELECT count(*) FROM pg_locks WHERE NOT granted", as: Int.self) == 1
        }
        let point = try await scene.readPoint()
        #expect(point.number == 0)
        try await held.release()
        try await waiting
        #expect(try await scene.queue.changes(since: [(scene.network, point)]) == [.users(["slow", "b"])])
        let numbers = try await pool.all(
            "SELECT seq FROM changes WHERE network_id = 'acme' ORDER BY user_id = 'b'",
            as: Int64.self
        )
        #expect(numbers == [1, 2])
    }

    @Test func `a network that is made anew goes on counting where the former one stopped`() async throws {
        try await scene.toggles.set(.user("a"), to: [:], in: scene.network)
        let point = try await scene.readPoint()
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        #expect(try await scene.queue.changes(since: [(scene.network, point)]) == [.everybody])
        try await scene.accounts.createNetwork(Network(id: scene.network, createdAt: WallClock.system.now()))
        let later = try await scene.readPoint()
        #expect(try #require(later.number) > #require(point.number))
        #expect(try await scene.queue.changes(since: [(scene.network, later)]) == [.none])
        try await scene.toggles.set(.user("a"), to: [:], in: scene.network)
        #expect(try await scene.queue.changes(since: [(scene.network, later)]) == [.users(["a"])])
    }

    @Test func `a flip counts once, and an import once for each of its transactions`() async throws {
        for _ in 0..<3 { try await scene.toggles.set(.user("a"), to: [:], in: scene.network) }
        #expect(try await scene.readPoint().number == 3)
        try await scene.importing([registrations("former")])
        #expect(try await scene.readPoint().number == 3)
        try await scene.importing([registrations("other")])
        let number = try #require(try await scene.readPoint().number)
        #expect((5...7).contains(number))
        #expect(try await pool.count("changes") == 3 + 2_000)
    }

    @Test func `points that a former release has read mean that everybody may be touched`() async throws {
        let point = ReadPoint("1:1:", moment: WallClock.system.now())
        #expect(try await scene.queue.changes(since: [(scene.network, point)]) == [.everybody])
    }

    private func registrations(_ token: String) -> [ImportRecord] {
        (0..<2_000).map { number in
            .device(Device("d\(number)", of: "u\(number)", .fcm(token: "\(token)-\(number)", appID: "app")))
        }
    }
}

extension StoreScene {
    /// Where the changes of its network stand.
    func readPoint() async throws -> ReadPoint {
        try await pool.withTransaction { session in
            try ReadPoints(session.pipeline([ReadPoints.statement(for: [network])])[0])[network]
        }
    }
}
