import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

@Suite(.stores) struct GrownDefaultTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }
    private let today = PartitionDay(containing: .now)

    @Test
    func `a day without a partition gets one with all its rows where they are, and nobody waits for it`() async throws {
        var configuration = try await TestDatabase.make()
        configuration.lockTimeout = .seconds(2)
        try await StoreScene.withStores(configuration) { scene, pool in
            let outcomes = 300_000
            try await Self.fill("outcomes", with: outcomes, pool)
            let file = try await file(of: "outcomes_default", pool)

            // What a start does is bounded, whatever waits in the default partition.
            try await pool.housekeeper().makePartitions()
            #expect(try await pool.count("outcomes_default") == outcomes)
            #expect(try await partitions("outcomes", pool).isEmpty)
            #expect(try await partitions("events", pool).count == 4)

            let writer = Writer(pool)
            async let writing = writer.run()
            do {
                // What a writer held for too long is tried again some minutes later; another one tries at once.
                while try await partitions("outcomes", pool).isEmpty { try await pool.housekeeper().sweep() }
            } catch {
                writer.stop()
                throw error
            }
            writer.stop()
            let written = try await writing
            #expect(written > 0)
            let days = try await partitions("outcomes", pool).map(\.days)
            #expect(days.map(\.upperBound) == [2, 3, 4].map { today.advanced(by: $0) })
            #expect(days.first?.contains(today) == true)
            #expect(try await self.file(of: "outcomes_\(today.advanced(by: 1).suffix)", pool) == file)
            #expect(try await pool.count("outcomes") == outcomes + written)
            #expect(try await pool.count("outcomes_default") == 0)
        }
    }

    @Test(arguments: DailyPartitions.tables)
    func `what becomes a partition is like the others, and so is what takes its place`(table: String) async throws {
        try await Self.fill(table, with: 20_000, daysAgo: 2, pool)
        try await Self.fill(table, with: 5_000, pool)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask { [today] in try await Self.upkeep(pool).adopt(from: today.advanced(by: -14)) }
            }
            try await group.waitForAll()
        }
        while try await partitions(table, pool).count < 3 {
            let upkeep = Self.upkeep(pool)
            try await upkeep.adopt(from: today.advanced(by: -14))
            try await upkeep.make(daysAhead: 3)
        }
        let present = try await partitions(table, pool)
        let grown = try #require(present.first)
        #expect(grown.days.contains(today) && grown.days.contains(today.advanced(by: -2)))
        #expect(present.map(\.days.upperBound) == [2, 3, 4].map { today.advanced(by: $0) })
        #expect(try await pool.count(grown.name) == 25_000)
        var shapes: Set<[String]> = []
        for name in present.map(\.name) + ["\(table)_default"] { shapes.insert(try await shape(of: name, pool)) }
        #expect(shapes.count == 1, "\(shapes)")

        // It goes when its last day is old, and not before.
        try await Self.upkeep(pool).drop(before: today.advanced(by: 1))
        #expect(try await partitions(table, pool).contains { $0.name == grown.name })
        try await Self.upkeep(pool).drop(before: today.advanced(by: 2))
        #expect(try await !partitions(table, pool).contains { $0.name == grown.name })
    }

    @Test func `rows of days far apart stay, and those of all days are let in`() async throws {
        try await Self.fill("outcomes", with: 20_000, pool)
        try await Self.fill("outcomes", with: 1, daysAgo: -400, pool)
        try await pool.housekeeper().sweep()
        #expect(try await partitions("outcomes", pool).isEmpty)
        for days in [-500, -2, 0, 3] { try await Self.fill("outcomes", with: 1, daysAgo: days, pool) }
        #expect(try await pool.count("outcomes_default") == 20_005)
    }

    @Test func `what is old goes from a default partition that has grown, too`() async throws {
        try await Self.fill("outcomes", with: 40_000, daysAgo: 15, pool)
        try await Self.fill("outcomes", with: 100, pool)
        let keeper = pool.housekeeper()
        try await keeper.sweep()
        #expect(try await pool.count("outcomes") == 100)
        let days = try await partitions("outcomes", pool).map(\.days)
        #expect(days.contains { $0.contains(today) })
    }

    @Test func `a process that ended in between keeps nobody's rows out when the next one starts`() async throws {
        try await Self.fill("outcomes", with: 20_000, daysAgo: 3, pool)
        let grown = GrownDefault(partitions: DailyPartitions(table: "outcomes"))
        try await pool.withTransaction { session in
            try grown.admit(only: today.advanced(by: -4)..<today.advanced(by: -1), session)
        }
        let error = await #expect(throws: PostgresError.self) { try await Self.insertOutcome(pool) }
        #expect(error?.isTransient == true)
        try await pool.housekeeper().makePartitions()
        try await Self.insertOutcome(pool)
        while try await partitions("outcomes", pool).isEmpty { try await pool.housekeeper().sweep() }
        #expect(try await pool.count("outcomes_default") == 0)
        #expect(try await pool.count("outcomes") == 20_001)
    }

    /// Makes rows with ids of one moment.
    private static func fill(_ table: String, with count: Int, daysAgo: Int = 0, _ pool: PostgresPool) async throws {
        let values: [String: (columns: SQL, values: SQL)] = [
            "events": ("source_id, event_type, received_at", "n::text, 'message.sent', now()"),
            "outcomes": (
                "provider, at, delivered, unregistered, expired, dead, suppressed, records",
                "'log', now(), 1, 0, 0, 0, 0, '[]'"
            ),
            "relayed": ("event_type, received_at, body", "'message.sent', now(), '{}'"),
            "relays": (
                "endpoint_id, event_type, state, attempts, answer, at",
                "'e', 'message.sent', 'delivered', 1, '', now()"
            ),
        ]
        let (columns, row) = try #require(values[table])
        let start = EventID(.version7Floor(of: .now - .seconds(daysAgo * 86_400))).description.prefix(13)
        try await pool.execute(
            """
            INSERT INTO \(identifier: table) (network_id, event_id, \(sql: columns))
            SELECT 'acme', (\("\(start)-7000-8000-") || lpad(to_hex(n + \(Int.random(in: 0..<1 << 40))), 12, '0'))::uuid,
                   \(sql: row)
            FROM generate_series(1::bigint, \(count)) AS n
            """
        )
    }

    fileprivate static func insertOutcome(_ pool: PostgresPool) async throws {
        try await Self.fill("outcomes", with: 1, pool)
    }

    private func partitions(_ table: String, _ pool: PostgresPool) async throws -> [DailyPartitions.Partition] {
        try await pool.withConnection { try DailyPartitions(table: table).partitions($0) }
    }

    /// What holds the rows of a table: they were not moved where it is the same.
    private func file(of table: String, _ pool: PostgresPool) async throws -> Int64? {
        try await pool.first("SELECT pg_relation_filenode(\(table)::regclass)::bigint")
    }

    /// What a partition has besides its rows: indexes, defaults, triggers, constraints.
    private func shape(of table: String, _ pool: PostgresPool) async throws -> [String] {
        try await pool.all(
            """
            SELECT 'index of ' || p.relname FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid
            JOIN pg_class p ON p.oid = h.inhparent WHERE i.indrelid = \(table)::regclass AND i.indisvalid
            UNION ALL SELECT 'index' FROM pg_index WHERE indrelid = \(table)::regclass
            UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE tgrelid = \(table)::regclass
            UNION ALL SELECT 'check ' || conname FROM pg_constraint
                WHERE conrelid = \(table)::regclass AND contype = 'c'
            UNION ALL SELECT 'default ' || pg_get_expr(adbin, adrelid) FROM pg_attrdef
                WHERE adrelid = \(table)::regclass
            ORDER BY 1
            """,
            as: String.self
        )
    }

    private static func upkeep(_ pool: PostgresPool) -> PartitionUpkeep {
        PartitionUpkeep(pool: pool, clock: .system, logger: TestDatabase.logger)
    }
}

/// Writes outcomes one after the other until it is told to stop.
private final class Writer: Sendable {
    private let pool: PostgresPool
    private let isOver = Mutex(false)

    init(_ pool: PostgresPool) { self.pool = pool }

    /// Answers how many were written.
    func run() async throws -> Int {
        var count = 0
        while !isOver.withLock(\.self) {
            try await GrownDefaultTests.insertOutcome(pool)
            count += 1
        }
        return count
    }

    func stop() { isOver.withLock { $0 = true } }
}
