import CarillonCore
import Postgres
import Testing

@testable import CarillonStore
@testable import CarillonTesting

/// What claims read is counted: a table's dead rows, which an old snapshot keeps, are not among it.
@Suite struct DeadRowsTests {
    /// Of a hundred thousand dead rows a walk along any index reads thousands.
    private static let fewBlocks: Int64 = 700

    private static let queues = ["inbox", "deliveries"]

    @Test func `an idle service does not walk over what an old snapshot keeps`() async throws {
        try await withDeadRows { scene, pool in
            for (name, findsNothing) in Self.steps(scene) {
                #expect(try await findsNothing())
                let read =
                    try await pool.blocks(of: Self.queues) { () async throws in
                        for _ in 0..<3 { #expect(try await findsNothing()) }
                    } / 3
                #expect(read < Self.fewBlocks, "\(name) reads \(read) blocks")
            }
        }
    }

    @Test func `rows of no network are found in turn, without a walk over what an old snapshot keeps`() async throws {
        try await withDeadRows { scene, pool in
            let orphans = OrphanSweep(pool: pool, pagesAtOnce: 128)
            try await orphans.sweep()
            for _ in 0..<3 {
                let read = try await pool.blocks(of: Self.queues) { () async throws in try await orphans.sweep() }
                #expect(read < Self.fewBlocks)
            }
            try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
            try await pool.execute("UPDATE deliveries SET network_id = 'gone'")
            var sweeps = 0
            while try await pool.count("former_networks") == 0, sweeps < 100 {
                try await orphans.sweep()
                sweeps += 1
            }
            #expect(try await pool.count("former_networks") == 1)
        }
    }

    @Test func `what becomes due is claimed at once, whatever an old snapshot keeps`() async throws {
        try await withDeadRows { scene, pool in
            for (_, findsNothing) in Self.steps(scene) { #expect(try await findsNothing()) }
            let target = try await scene.target("d", of: "b")
            try await scene.enqueue(to: [[target]])
            let read = try await pool.blocks(of: Self.queues) { () async throws in
                #expect(try await scene.claim(limit: 9, perLane: 9).count == 1)
            }
            #expect(read < Self.fewBlocks)

            let event = scene.incoming(.message("c", from: Person(id: "a")))
            _ = try await scene.inbox.accept([event])
            // Another replica's lease ends.
            try await pool.execute("UPDATE inbox SET run_at = now()")
            let readOfEvents = try await pool.blocks(of: Self.queues) { () async throws in
                #expect(try await scene.inbox.claimEvents(limit: 9).map(\.id) == [event.id])
            }
            #expect(readOfEvents < Self.fewBlocks)
        }
    }

    @Test func `rows are found by their keys, whatever has died of their network`() async throws {
        try await withDeadRows { scene, pool in
            let target = try await scene.target("d", of: "b")
            let event = try await scene.pending(.message("c", from: Person(id: "a"), id: "e"))
            let group = scene.group(event, to: [target], leased: true)
            try await pool.execute(.unprepared("ANALYZE deliveries, inbox"))
            let steps: [(name: String, isDone: () async throws -> Bool)] = [
                ("renewing an event", { try await scene.inbox.renew([event]) == [event.id] }),
                (
                    "noting a failure",
                    {
                        try await scene.inbox.noteFailure(of: [event], reason: "r"); return true
                    }
                ),
                (
                    "expanding",
                    { try await scene.queue.enqueue([Expansion(event: event, groups: [group], next: nil)]) == [true] }
                ),
                ("renewing", { try await scene.queue.renew([group]).renewed == [group.id] }),
                (
                    "settling",
                    {
                        _ = try await scene.queue.settle([Settlement(group: group, records: [], remainders: [])])
                        return true
                    }
                ),
            ]
            for (name, isDone) in steps {
                let read = try await pool.blocks(of: Self.queues) { () async throws in #expect(try await isDone()) }
                #expect(read < Self.fewBlocks, "\(name) reads \(read) blocks")
            }
            for table in Self.queues { #expect(try await pool.count(table) == 0) }
        }
    }

    @Test func `what was due long before anybody looked is found by going through the table`() async throws {
        try await withDeadRows { scene, pool in
            #expect(try await scene.claim().isEmpty)
            try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
            try await pool.execute("UPDATE deliveries SET run_at = now() - interval '2 hours'")
            var looks = 0
            while try await scene.claim().isEmpty, looks < 100 { looks += 1 }
            #expect(looks < 100)

            let replica = PostgresOutbox(pool: pool, ids: scene.ids)
            try await pool.execute("UPDATE deliveries SET run_at = now() - interval '2 hours', leased = false")
            #expect(try await replica.oldestWait() >= .seconds(7_199))
            let claimed = try await replica.claimGroups(limit: 9, limitPerLane: 9, excluding: ClaimExclusions())
            #expect(claimed.groups.count == 1, "a replica that has just come goes through much at once")
        }
    }

    @Test func `what waits for long in a full lane does not have others walk over what has died since`() async throws {
        let configuration = try await oneConnection()
        try await StoreScene.withStores(configuration) { scene, pool in
            try await scene.enqueue(to: [[try await scene.target("d1", of: "b", app: "full")]], app: "full")
            try await pool.execute("UPDATE deliveries SET run_at = now() - interval '2 hours'")
            var exclusions = ClaimExclusions()
            exclusions.lanes = [Lane(networkID: scene.network, provider: .fcm, appID: "full")]
            func claim() async throws -> [String] {
                try await scene.queue.claimGroups(limit: 9, limitPerLane: 9, excluding: exclusions).groups
                    .map(\.group.lane.appID)
            }
            try await withOldSnapshot(of: configuration) {
                try await pool.makeDeadRows()
                #expect(try await claim().isEmpty)
                try await scene.enqueue(to: [[try await scene.target("d2", of: "b", app: "works")]], app: "works")
                let read = try await pool.blocks(of: Self.queues) { () async throws in
                    var claimed: [String] = []
                    for _ in 0..<30 { claimed += try await claim() }
                    #expect(claimed == ["works"])
                }
                #expect(read / 30 < Self.fewBlocks, "a round through the table finds the full lane again")
                exclusions = ClaimExclusions()
                #expect(try await claim() == ["full"])
            }
        }
    }

    @Test func `a claim reads as much with ten thousand networks that have nothing due as with ten`() async throws {
        var read: [Int64] = []
        for count in [10, 10_000] {
            try await StoreScene.withStores(oneConnection()) { scene, pool in
                try await pool.execute(
                    """
                    INSERT INTO deliveries (network_id, group_id, event_id, provider, app_id, cause, locale, title, body, targets,
                                            size, attempt, run_at, expires_at, leased)
                    SELECT 'network-' || n, gen_random_uuid(), gen_random_uuid(), 'log', '', '{}', 'en', '', '', '[]', 1, 1,
                           now() + interval '1 hour', now() + interval '1 day', false
                    FROM generate_series(1, \(count)) AS n
                    """
                )
                #expect(try await scene.claim().isEmpty)
                try await scene.enqueue(to: [[try await scene.target("d", of: "b")]])
                read.append(
                    try await pool.blocks(of: Self.queues) { () async throws in
                        #expect(try await scene.claim().count == 1)
                        _ = try await scene.queue.oldestWait()
                    }
                )
            }
        }
        #expect(read[1] < read[0] + 2 * Self.fewBlocks, "\(read)")
    }

    @Test func `a table does not grow any more when the old snapshot is gone`() async throws {
        let configuration = try await oneConnection()
        try await StoreScene.withStores(configuration) { scene, pool in
            // An ANALYZE that begins by itself is a snapshot, too, and would have the next VACUUM keep what it sees.
            try await pool.withConnection { session in
                for table in Self.queues {
                    try session.execute(.unprepared("ALTER TABLE \(identifier: table) SET (autovacuum_enabled = off)"))
                }
            }
            let size = try await withOldSnapshot(of: configuration) {
                try await pool.makeDeadRows()
                return try await pool.bytes(of: Self.queues)
            }
            for _ in 0..<3 {
                try await pool.withConnection { session in
                    for table in Self.queues { try session.execute(.unprepared("VACUUM \(identifier: table)")) }
                }
                try await pool.makeDeadRows()
            }
            #expect(try await pool.bytes(of: Self.queues) <= size * 3 / 2)
            #expect(try await scene.claim().isEmpty)
        }
    }

    @Test func `the oldest snapshot is known by its age`() async throws {
        let configuration = try await oneConnection()
        try await TestDatabase.withPool(configuration) { pool in
            #expect(try await OldestSnapshot.age(pool) == .zero)
            try await withOldSnapshot(of: configuration) {
                var age = Duration.zero
                while age == .zero { age = try await OldestSnapshot.age(pool) }
                #expect(age < .seconds(60))
            }
        }
    }

    /// What the service does by itself, again and again; whether it finds nothing.
    private static func steps(_ scene: StoreScene) -> [(name: String, findsNothing: () async throws -> Bool)] {
        [
            ("a claim of deliveries", { try await scene.claim().isEmpty }),
            ("a claim of expired deliveries", { try await scene.queue.claimExpired(limit: 64).isEmpty }),
            ("a claim of events", { try await scene.inbox.claimEvents(limit: 64).isEmpty }),
            ("measuring", { try await scene.queue.oldestWait() == .zero }),
        ]
    }

    private func withDeadRows(_ body: (StoreScene, PostgresPool) async throws -> Void) async throws {
        let configuration = try await oneConnection()
        try await StoreScene.withStores(configuration) { scene, pool in
            try await withOldSnapshot(of: configuration) {
                try await pool.makeDeadRows()
                try await body(scene, pool)
            }
        }
    }
}

extension PostgresPool {
    /// Has rows pass through the queues: as many leased as not, those of an hour, and as many expired ones.
    fileprivate func makeDeadRows() async throws {
        let count = 100_000
        let moment: SQL = "now() - interval '10 seconds' - n * interval '36 milliseconds'"
        try await withConnection { session in
            try session.execute(
                """
                INSERT INTO deliveries (network_id, group_id, event_id, provider, app_id, cause, locale, title, body, targets,
                                        size, attempt, run_at, expires_at, leased)
                SELECT 'acme', gen_random_uuid(), gen_random_uuid(), 'log', '', '{}', 'en', '', '', '[]', 1, 1,
                       \(sql: moment), \(sql: moment), n % 2 = 0
                FROM generate_series(1, \(count)) AS n
                """
            )
            try session.execute(
                """
                INSERT INTO inbox (network_id, event_id, source_id, event_type, received_at, occurred_at, body, run_at, leased)
                SELECT 'acme', gen_random_uuid(), 'dead', 'message.sent', now(), now(), '{}', \(sql: moment), n % 2 = 0
                FROM generate_series(1, \(count)) AS n
                """
            )
            try session.execute("DELETE FROM deliveries WHERE provider = 'log'")
            try session.execute("DELETE FROM inbox WHERE source_id = 'dead'")
            // To the planner a table of dead rows is an empty one.
            try session.execute(.unprepared("ANALYZE deliveries, inbox"))
        }
    }

    /// How many blocks of tables and their indexes are looked at meanwhile.
    fileprivate func blocks(of tables: [String], _ body: () async throws -> Void) async throws -> Int64 {
        let before = try await blocksRead(of: tables)
        try await body()
        return try await blocksRead(of: tables) - before
    }

    /// How large tables are, without their indexes: before version 16 the server uses an index's emptied pages again only
    /// when no snapshot of any database is older, and other tests hold some.
    fileprivate func bytes(of tables: [String]) async throws -> Int64 {
        try await first("SELECT sum(pg_table_size(t::regclass))::bigint FROM unnest(\(tables)) AS t") ?? 0
    }
}
