import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

@Suite struct MigratorTests {
    @Test func `brings an empty database up to date, once`() async throws {
        try await TestDatabase.withPool(migrated: false) { pool in
            let migrator = Migrator(pool: pool, directory: TestDatabase.migrations, logger: TestDatabase.logger)
            let pending = try await migrator.status().pending
            #expect(pending.first == "0001_networks")
            #expect(try await migrator.migrate() == pending)
            #expect(try await migrator.status().isCurrent)
            #expect(try await migrator.migrate() == [])
        }
    }

    @Test func `replicas that migrate at once run each file once`() async throws {
        try await TestDatabase.withPool(migrated: false) { pool in
            let names = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<4 {
                    let migrator = Migrator(pool: pool, directory: TestDatabase.migrations, logger: TestDatabase.logger)
                    group.addTask { try await migrator.migrate() }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(names).count == names.count)
            let status = try await Migrator(
                pool: pool,
                directory: TestDatabase.migrations,
                logger: TestDatabase.logger
            ).status()
            #expect(status.isCurrent)
        }
    }

    @Test func `runs what was added, and only that`() async throws {
        try await withMigrations(["0001_a": "CREATE TABLE a (x int)"]) { migrator, directory, _ in
            #expect(try await migrator.migrate() == ["0001_a"])
            try directory.write("0002_b", "CREATE TABLE b (x int); INSERT INTO b VALUES (1)")
            #expect(try await migrator.status().pending == ["0002_b"])
            #expect(try await migrator.migrate() == ["0002_b"])
        }
    }

    @Test func `a file that fails is undone as a whole, those before it stay`() async throws {
        let files = ["0001_a": "CREATE TABLE a (x int)", "0002_b": "CREATE TABLE b (x int); SELECT 1 / 0"]
        try await withMigrations(files) { migrator, directory, _ in
            await #expect(throws: PostgresError.self) { try await migrator.migrate() }
            #expect(try await migrator.status().pending == ["0002_b"])
            try directory.write("0002_b", "CREATE TABLE b (x int)")
            #expect(try await migrator.migrate() == ["0002_b"])
        }
    }

    @Test func `refuses a file that was changed after it had been run`() async throws {
        try await withMigrations(["0001_a": "CREATE TABLE a (x int)"]) { migrator, directory, _ in
            try await migrator.migrate()
            try directory.write("0001_a", "CREATE TABLE a (y int)")
            try directory.write("0002_b", "CREATE TABLE b (x int)")
            await #expect(throws: MigrationError.changedFile("0001_a")) { try await migrator.migrate() }
            #expect(try await migrator.status().pending == ["0002_b"])
        }
    }

    @Test func `refuses a database that is newer than the files, but does not call it behind`() async throws {
        let files = ["0001_a": "CREATE TABLE a (x int)", "0002_b": "CREATE TABLE b (x int)"]
        try await withMigrations(files) { migrator, directory, _ in
            try await migrator.migrate()
            try directory.remove("0002_b")
            let error = MigrationError.databaseIsNewer(database: 2, files: 1)
            await #expect(throws: error) { try await migrator.migrate() }
            #expect(try await migrator.status().isCurrent)
        }
    }

    @Test(arguments: [
        (["0001_a", "0003_c"], MigrationError.numberingGap(expected: 2, found: "0003_c")),
        (["0001_a", "0001_b"], .numberingGap(expected: 2, found: "0001_b")),
        (["0002_a"], .numberingGap(expected: 1, found: "0002_a")), (["1_a"], .badFileName("1_a.sql")),
        (["0001a"], .badFileName("0001a.sql")),
    ])
    func `refuses files that are not numbered one by one`(names: [String], error: MigrationError) async throws {
        let files = Dictionary(uniqueKeysWithValues: names.map { ($0, "SELECT 1") })
        try await withMigrations(files) { migrator, _, _ in
            await #expect(throws: error) { try await migrator.migrate() }
        }
    }

    @Test func `refuses a history with a gap`() {
        let migrations = [1, 2, 3].map { Migration(version: $0, name: "\($0)", text: "") }
        let applied = migrations.map { AppliedMigration(version: $0.version, name: $0.name, checksum: $0.checksum) }
        #expect(throws: MigrationError.historyGap(missing: 2)) {
            try Migration.check(migrations, against: [applied[0], applied[2]])
        }
    }

    @Test func `says where it looked when there is nothing`() async throws {
        try await withMigrations([:]) { migrator, directory, _ in
            let error = MigrationError.unreadableDirectory(directory.path)
            await #expect(throws: error) { try await migrator.migrate() }
            #expect("\(error)".contains("CARILLON_MIGRATIONS_DIR"))
        }
    }
}
