import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

@Suite struct SequencesBehindTests {
    @Test func `a copy without its sequences is noticed, and nothing else`() async throws {
        try await StoreScene.withStores(try await TestDatabase.make()) { scene, pool in
            #expect(try await SequencesBehind.look(pool) == nil)
            try await pool.execute(
                """
                INSERT INTO members (network_id, channel_id, user_id, is_member, facts_at)
                SELECT \(scene.network.rawValue), 'general', 'user ' || n, true, now() FROM generate_series(1, 3) AS n
                """
            )
            for id: EndpointID in ["e-1", "e-2"] {
                try await scene.endpoints.addEndpoint(.sample(id, .observe(.init(replayHours: 72))), to: scene.network)
            }
            try await pool.execute(
                """
                INSERT INTO outcomes (network_id, event_id, provider, at, delivered, unregistered, expired, dead, suppressed, records)
                SELECT \(scene.network.rawValue), \(scene.ids.next()), 'log', now(), 1, 0, 0, 0, 0, '[]' FROM generate_series(1, 2)
                """
            )
            #expect(try await SequencesBehind.look(pool) == nil)
            // The last mark of the block that was given out last.
            try await pool.execute(
                """
                UPDATE members SET since_event
                    = ('ffffffffffffffff' || lpad(to_hex((SELECT last_value FROM marks) + 4095), 16, '0'))::uuid
                WHERE user_id = 'user 1'
                """
            )
            #expect(try await SequencesBehind.look(pool) == nil)
            for sequence in SQL.sequences {
                let former = try await pool.first(
                    .unprepared("SELECT last_value FROM \(identifier: sequence)"),
                    as: Int64.self
                )
                try await pool.execute("SELECT setval(\(sequence)::text::regclass, 1)")
                #expect(try await SequencesBehind.look(pool) == SequencesBehind(names: [sequence]))
                try await pool.execute(.unprepared("ALTER SEQUENCE \(identifier: sequence) RESTART"))
                #expect(try await SequencesBehind.look(pool) == SequencesBehind(names: [sequence]))
                try await pool.execute("SELECT setval(\(sequence)::text::regclass, \(former ?? 1))")
            }
            #expect(try await SequencesBehind.look(pool) == nil)
        }
    }
}
