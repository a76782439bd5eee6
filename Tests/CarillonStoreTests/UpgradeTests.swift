import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// The migrations of this release on databases of former ones, which go on being used.
@Suite(.timeLimit(.minutes(5))) struct UpgradeTests {
    @Test(arguments: [16, try FormerRelease.read().migrations])
    func
        `nobody waits a second for a lock while the database of a former release is migrated, though somebody reads for long`(
            version: Int
        ) async throws
    {
        let database = try await TestDatabase.make(upTo: version)
        let (log, lost) = try await TestDatabase.withPool(database) { pool in
            try await pool.fillAsFormerly()
            return try await TestDatabase.withPool(database) { others in
                let log = CollectedLog()
                let load = FormerLoad(pool: others)
                let lost = try await withThrowingTaskGroup { group in
                    for worker in 0..<3 { group.addTask { try await load.work(as: worker) } }
                    group.addTask {
                        defer { load.end() }
                        // As a backup does.
                        let reader = await others.hold("SELECT FROM deliveries, devices, events, channels LIMIT 1")
                        async let names = migrator(pool, log).migrate()
                        let isLetGo = await Result {
                            try await eventually { log.lines(Self.waiting).count > 1 }
                        }
                        try await reader.release()
                        try isLetGo.get()
                        #expect(try await names.count > 0)
                    }
                    try await group.waitForAll()
                    return try await pool.count("events") - 50_000 - load.events
                }
                #expect(load.events > 0)
                return (log, lost)
            }
        }
        #expect(lost == 0)
        #expect(log.lines(Self.waiting).count > 1)
    }

    @Test func `what is migrated beside others becomes what a new database is`() async throws {
        let new = try await TestDatabase.withPool { try await $0.describeSchema() }
        try await TestDatabase.withPool(TestDatabase.make(upTo: 1)) { pool in
            try await migrator(pool).migrate()
            #expect(try await pool.describeSchema() == new)
            #expect(try await pool.count("schema_migration_steps") == 0)
        }
    }

    @Test(arguments: [false, true])
    func `a migrator that is cut off at any moment goes on where it was`(isAnswerLost: Bool) async throws {
        let new = try await TestDatabase.withPool { try await $0.describeSchema() }
        let version = try FormerRelease.read().migrations
        let proxy = try await TestDatabase.proxy()
        defer { proxy.close() }
        // Each moment takes a whole migration: in the short form every fourth one, of requests and of answers others.
        let step = ProcessInfo.processInfo.environment["CARILLON_FUZZ_SECONDS"] == nil ? 4 : 1
        var cuts = isAnswerLost && step > 1 ? 2 : 0
        while true {
            var database = try await TestDatabase.make(upTo: version, through: proxy)
            // As a start does it; to prepare anything would be a moment more.
            database.preparesStatements = false
            proxy.arm(isAnswerLost ? .answerUnread : .requestLost, after: cuts)
            let wasCut = try await TestDatabase.withPool(database) { pool in
                // A connection that is cut before anything was sent by it is replaced.
                do { try await migrator(pool).migrate() } catch let error as PostgresError where error.isConnectivity {}
                let wasCut = proxy.disarm()
                try await migrator(pool).migrate()
                #expect(try await pool.describeSchema() == new, "after \(cuts) messages")
                return wasCut
            }
            guard wasCut else { break }
            cuts += step
        }
        #expect(cuts > 30)
    }

    @Test func `replicas that migrate the database of a former release at once run each file once`() async throws {
        let version = try FormerRelease.read().migrations
        try await TestDatabase.withPool(TestDatabase.make(upTo: version)) { pool in
            let names = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<4 { group.addTask { try await migrator(pool).migrate() } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(try names == Migration.all(in: TestDatabase.migrations).dropFirst(version).map(\.name))
        }
    }

    @Test func `users and channels of before are found by any word of their names`() async throws {
        let network: NetworkID = "acme"
        try await TestDatabase.withPool(TestDatabase.make(upTo: FormerRelease.read().migrations)) { pool in
            try await pool.withConnection { session in
                for (table, id) in [("users", "user_id"), ("channels", "channel_id")] {
                    try session.execute(
                        """
                        INSERT INTO \(identifier: table) (network_id, \(identifier: id), display_name, facts_at, deleted)
                        SELECT \(network.rawValue), 'x' || n, CASE WHEN n % 5 > 0 THEN 'Ada Lovelace ' || n END,
                               now(), n % 5 = 1
                        FROM generate_series(1, 5000) AS n
                        """
                    )
                }
            }
            try await migrator(pool).migrate()
            let searches: [(text: String, DirectorySearch)] = [
                ("LOVELACE 49", .users(of: network)), ("4999", .channels(of: network)),
                ("lovelace 4991", .users(of: network)),
            ]
            var found: [Int] = []
            for (text, search) in searches {
                found.append(
                    try await pool.snapshot { session in
                        try search.page(matching: text, after: nil, limit: 1000, session) { row in
                            try row.decode(0, as: String.self)
                        }
                        .items.count
                    }
                )
            }
            // Of 49, 490 to 499 and 4900 to 4999 three in five have a name and are there.
            #expect(found == [67, 1, 0])
            #expect(try await pool.count("name_words") == 2 * 2 * 3000)
        }
    }

    @Test func `no migration builds an index while others wait, or locks tables together that others use in turn`()
        throws
    {
        for migration in try Migration.all(in: TestDatabase.migrations) {
            let made = Set(migration.text.matches(of: /CREATE TABLE (\w+)/).map(\.1))
            for case .together(let text) in migration.steps {
                let indexed = text.matches(of: /(?i)CREATE\s+(?:UNIQUE\s+)?INDEX.*?\sON\s+(?:ONLY\s+)?(\w+)/).map(\.1)
                #expect(made.isSuperset(of: indexed), "\(migration.name)")
                let altered = Set(text.matches(of: /(?i)ALTER\s+TABLE\s+(\w+)/).map(\.1)).subtracting(made)
                // Those before were released as they are.
                #expect(migration.version < 38 || altered.count <= 1, "\(migration.name)")
            }
        }
    }

    private static let waiting = "A migration waits until nobody is in its way"
}

private func migrator(_ pool: PostgresPool, _ log: CollectedLog = CollectedLog()) -> Migrator {
    Migrator(pool: pool, directory: TestDatabase.migrations, logger: log.logger)
}
