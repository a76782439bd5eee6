import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// A tag that very many subscribe to.
@Suite struct LargeTagTests {
    @Test func `all subscriptions to a tag end by the statements that one takes, and are swept later`() async throws {
        let proxy = try await TestDatabase.proxy()
        defer { proxy.close() }
        try await StoreScene.withStores(oneConnection(through: proxy)) { scene, pool in
            func end(_ count: Int) async throws -> Int {
                try await pool.script(
                    """
                    INSERT INTO users (network_id, user_id, facts_at)
                    SELECT 'acme', 'u' || n, 'epoch' FROM generate_series(1, 2000) n ON CONFLICT DO NOTHING
                    """
                )
                try await pool.execute(
                    """
                    INSERT INTO subscriptions (network_id, tag, kind, subject_id)
                    SELECT 'acme', 't', 'user', 'u' || n FROM generate_series(1, \(count)) n
                    """
                )
                let before = proxy.statements
                try await scene.tags.unsubscribeAll(from: "t", in: scene.network)
                let statements = proxy.statements - before
                let left = try await scene.tags.subscribers(of: "t", in: scene.network, after: nil, limit: 9)
                #expect(left.isEmpty)
                try await scene.passTime()
                #expect(try await pool.first("SELECT count(*) FROM subscriptions", as: Int.self) == 0)
                #expect(try await pool.first("SELECT count(*) FROM tags WHERE unswept", as: Int.self) == 0)
                return statements
            }
            // What is prepared and looked for once is not counted.
            _ = try await end(1)
            let few = try await end(1)
            #expect(try await end(2_000) == few)
        }
    }

    @Test(.stores) func `what a tag says of itself stays when all leave it, and who comes later is subscribed`()
        async throws
    {
        let scene = StoreScene.here
        _ = try await scene.tags.putTag(Tag(id: "t", description: "T", isSelfService: true), in: scene.network)
        let declared = try await scene.tags.tag("t", in: scene.network)
        try await scene.tags.unsubscribeAll(from: "t", in: scene.network)
        try await scene.tags.unsubscribeAll(from: "unknown", in: scene.network)
        func subscribe(_ user: UserID) async throws {
            _ = try await scene.tags.subscribe(.user(user), to: "t", in: scene.network, ifOwnedBy: nil, by: .admin)
        }
        try await subscribe("a")
        try await subscribe("b")
        try await scene.tags.unsubscribeAll(from: "t", in: scene.network)
        try await subscribe("b")
        try await scene.passTime()
        #expect(try await scene.tags.subscribers(of: "t", in: scene.network, after: nil, limit: 9) == [.user("b")])
        #expect(try await scene.tags.tag("t", in: scene.network) == declared)
        #expect(try await scene.tags.tags(in: scene.network, after: nil, limit: 9).map(\.id) == ["t"])
    }
}
