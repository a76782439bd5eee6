import CarillonCore
import CarillonTesting
import Postgres
import Testing

@testable import CarillonStore

/// How little is asked of a queue in which nothing is due.
@Suite struct DueGlanceTests {
    /// How often a session has run what it has planned once for a queue, and how many statements that are.
    private func runs(_ pool: PostgresPool) async throws -> [Int64] {
        let counts = try await pool.queryFirst(
            """
            SELECT coalesce(sum(generic_plans + custom_plans), 0)::bigint, count(*) FROM pg_prepared_statements
            WHERE statement LIKE '%FROM "%::t' || 'id%'
            """
        ) { row in [try row.decode(0, as: Int64.self), try row.decode(1, as: Int64.self)] }
        return try #require(counts)
    }

    @Test(arguments: ["inbox", "deliveries"])
    func `where nothing is due one thing is asked, which is planned once, and a look sees what was seen before it`(
        queue: String
    ) async throws {
        let time = ManualTime(Timestamp(milliseconds: 0))
        try await StoreScene.withStores(oneConnection()) { _, pool async throws in
            let due = DueRows(of: queue, haveLanes: queue == "deliveries", now: time.monotonic)
            for round in 1...5 {
                #expect(try await due.nextDue(within: .seconds(5), in: pool) == nil)
                #expect(try await due.next(9, in: pool).entries.isEmpty)
                #expect(try await runs(pool) == [Int64(round), 1])
                time.advance(by: .seconds(5))
            }
            // What was seen a while ago says nothing.
            #expect(try await due.nextDue(within: .seconds(5), in: pool) == nil)
            time.advance(by: .seconds(1))
            #expect(try await due.next(9, in: pool).entries.isEmpty)
            #expect(try await runs(pool) == [7, 1])
            // Nor is it said twice.
            #expect(try await due.next(9, in: pool).entries.isEmpty)
            #expect(try await runs(pool) == [8, 1])
            #expect(try await due.oldest("t.run_at", in: pool).isEmpty)
            #expect(try await runs(pool) == [9, 1])
        }
    }

    @Test func `what becomes due behind a look is told before it, and found by the next`() async throws {
        let time = ManualTime(Timestamp(milliseconds: 0))
        try await StoreScene.withStores(oneConnection()) { scene, pool async throws in
            let due = DueRows(of: "inbox", now: time.monotonic)
            #expect(try await due.nextDue(within: .seconds(5), in: pool) == nil)
            try await scene.accept(.message("c", from: Person(id: "a")))
            try await pool.execute("UPDATE inbox SET leased = true, run_at = now() - interval '1 second'")
            #expect(try await due.next(9, in: pool).entries.isEmpty, "as was seen")
            let found = try await due.next(9, in: pool).entries.map(\.network)
            #expect(found == [scene.network], "of a replica that is no more")
            try await pool.execute("UPDATE inbox SET leased = false, run_at = now() + interval '1 hour'")
            #expect(try await due.nextDue(within: .seconds(7_200), in: pool) ?? .zero > .seconds(3_000))
        }
    }

    @Test func `what others say that they have left is looked for, whatever was seen before they said so`()
        async throws
    {
        let time = ManualTime(Timestamp(milliseconds: 0))
        try await StoreScene.withStores { scene, pool async throws in
            let due = DueRows(of: "inbox", now: time.monotonic)
            #expect(try await due.nextDue(within: .seconds(5), in: pool) == nil)
            try await scene.accept(.message("c", from: Person(id: "a")))
            due.callForLook()
            #expect(try await due.next(9, in: pool).entries.map(\.network) == [scene.network])
        }
    }

    @Test func `what others say that they have left is looked for, whatever is being seen when they say so`()
        async throws
    {
        let time = ManualTime(Timestamp(milliseconds: 0))
        try await StoreScene.withStores { scene, pool async throws in
            let due = DueRows(of: "inbox", now: time.monotonic)
            let held = await pool.hold("LOCK TABLE inbox")
            async let next = due.nextDue(within: .seconds(5), in: pool)
            try await eventually("a glance under way") { try await pool.isAnybodyWaiting() }
            due.callForLook()
            try await held.release()
            #expect(try await next == nil)
            try await scene.accept(.message("c", from: Person(id: "a")))
            #expect(try await due.next(9, in: pool).entries.map(\.network) == [scene.network])
        }
    }

    @Test func `before a rest as many pages are looked through as looks would be in it`() {
        var (rested, usual) = (TableWalk(pagesAtOnce: 10), TableWalk(pagesAtOnce: 10))
        for _ in 0..<2 {
            rested.went(on: .seconds(1), pages: 1_000)
            usual.went(on: .seconds(1), pages: 1_000)
        }
        rested.rest(for: .seconds(3), insteadOf: .milliseconds(300))
        rested.went(on: .seconds(2), pages: 1_000)
        for _ in 0..<10 { usual.went(on: .seconds(2), pages: 1_000) }
        #expect(rested == usual)
        rested.went(on: .seconds(2), pages: 1_000)
        #expect(rested != usual, "one page further, not ten")
        usual.went(on: .seconds(2), pages: 1_000)
        #expect(rested == usual)
    }

    @Test func `nothing is begun where nothing has expired`() async throws {
        try await StoreScene.withStores(oneConnection()) { scene, pool async throws in
            let outbox = PostgresOutbox(pool: pool, ids: scene.ids)
            for round in 1...3 {
                #expect(try await outbox.claimExpired(limit: 9).isEmpty)
                #expect(try await runs(pool) == [Int64(round), 1])
            }
            try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
            try await pool.execute("UPDATE deliveries SET expires_at = now() - interval '1 hour'")
            #expect(try await outbox.claimExpired(limit: 9).count == 1)
        }
    }
}
