import CarillonCore
import CarillonTesting
import Foundation
import Postgres
import Testing

@testable import CarillonStore

/// How files are run in a database that is in use.
@Suite(.timeLimit(.minutes(2))) struct MigrationStepTests {
    private static let people = ["0001_people": "CREATE TABLE people (id int, name text)"]

    @Test func `indexes of tables that were there before, updates and what is marked are steps of their own`() {
        let migration = Migration(
            version: 1,
            name: "0001_a",
            text: """
                -- A comment alone is no step.
                CREATE INDEX people_by_id ON people (id) WHERE name IS NOT NULL;
                CREATE TABLE pets (id int);
                CREATE UNIQUE INDEX pets_by_id ON pets (id);
                -- Of all.
                UPDATE people SET name = '' WHERE name IS NULL;
                ALTER TABLE people ADD COLUMN age int;    -- in years
                -- in steps
                DELETE FROM people WHERE id IN (SELECT id FROM people LIMIT 10);
                CREATE UNIQUE INDEX people_by_name
                    ON people (name);

                CREATE UNIQUE INDEX people_by_age ON people (age);
                """
        )
        let isBuilt = migration.steps.map { step in
            if case .index(let index) = step { index.name } else { "" }
        }
        #expect(isBuilt == ["people_by_id", "", "", "", "", "", "people_by_age"])
        guard case .together(let made) = migration.steps[1], case .repeated(let deletion) = migration.steps[4] else {
            Issue.record("\(migration.steps)")
            return
        }
        #expect(made.contains("CREATE TABLE pets") && made.contains("pets_by_id"))
        #expect(migration.steps[2] == .together("UPDATE people SET name = '' WHERE name IS NULL;"))
        #expect(deletion.hasPrefix("DELETE") && deletion.hasSuffix("LIMIT 10)"))
        let last = IndexDefinition(name: "people_by_age", table: "people", isUnique: true, columns: " (age)")
        #expect(migration.steps.last == .index(last))
    }

    @Test func `nothing is made in a database that cannot hold what people write`() async throws {
        try await TestDatabase.withPool(migrated: false) { pool in
            _ = try await pool.execute(
                .unprepared("CREATE DATABASE plain ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
            )
        }
        let plain = try await TestDatabase.configuration(of: "plain")
        try await PostgresPool.withPool(configuration: plain, logger: TestDatabase.logger) { pool in
            let migrator = Migrator(pool: pool, directory: TestDatabase.migrations, logger: TestDatabase.logger)
            let error = try #require(WrongEncoding("SQL_ASCII"))
            await #expect(throws: error) { try await migrator.migrate() }
            let tables = try await pool.first(
                "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'",
                as: Int.self
            )
            #expect(tables == 0)
        }
    }

    @Test func `a text is divided into its commands, whatever has semicolons in it`() {
        let text = """
            -- First; of all.
            CREATE TABLE pets (id int, "a;b" text DEFAULT 'it''s; so');
            /* None; of them; is one. */;
            CREATE FUNCTION one() RETURNS int LANGUAGE sql
            BEGIN ATOMIC
                SELECT CASE WHEN true THEN 1 END;
                SELECT 2;
            END;
            CREATE FUNCTION two() RETURNS trigger LANGUAGE plpgsql AS $body$
            BEGIN PERFORM $$;$$; RETURN NULL; END
            $body$;

            UPDATE pets SET id = 1 WHERE "a;b" = $1 -- at; last
            """
        let beginnings = CommandScanner(text).map { command in
            command.words.drop { $0 != "CREATE" && $0 != "UPDATE" }.prefix(3).joined(separator: " ")
        }
        #expect(
            beginnings == ["CREATE TABLE pets", "CREATE FUNCTION one()", "CREATE FUNCTION two()", "UPDATE pets SET"]
        )
    }

    @Test func `each file is divided into commands that begin as such`() throws {
        for migration in try Migration.all(in: TestDatabase.migrations) {
            for command in CommandScanner(migration.text) {
                let lines = command.split(separator: "\n").filter {
                    !$0.drop(while: \.isWhitespace).hasPrefix("--") && !$0.allSatisfy(\.isWhitespace)
                }
                let word = lines.first?.prefix { $0.isLetter }
                #expect(
                    word.map { ["ALTER", "CREATE", "DO", "DROP", "INSERT", "LOCK", "UPDATE", "WITH"].contains($0) }
                        == true,
                    "\(command)"
                )
            }
        }
    }

    @Test func `nothing of a file is left out`() throws {
        for migration in try Migration.all(in: TestDatabase.migrations) {
            let words = migration.steps.flatMap { step in
                switch step {
                case .together(let text), .repeated(let text): text.words
                case .key(let key):
                    "ALTER TABLE \(key.table) ADD CONSTRAINT \(key.name) PRIMARY KEY\(key.columns);".words
                case .index(let index):
                    "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(index.name) ON \(index.table)\(index.columns);"
                        .words
                }
            }
            #expect(words == migration.text.words, "\(migration.name)")
        }
    }

    @Test func `an index is built while somebody has written and not committed, and others write`() async throws {
        try await withMigrations(Self.people) { migrator, directory, pool in
            try await migrator.migrate()
            try directory.write("0002_index", "CREATE INDEX people_by_id ON people (id);")
            let writer = await pool.hold("INSERT INTO people VALUES (1)")
            async let names = migrator.migrate()
            let isBuilding = await Result { try await eventually { try await pool.isBuildingIndex() } }
            let isWritten = await Result {
                try await pool.withTransaction(TransactionOptions(lockTimeout: .seconds(1))) { session in
                    try session.execute("INSERT INTO people VALUES (2)")
                }
            }
            try await writer.release()
            try isBuilding.get()
            #expect(try isWritten.get() == 1)
            #expect(try await names == ["0002_index"])
            #expect(try await pool.indexes() == ["people_by_id": true])
        }
    }

    @Test func `a lock that does not come is let go, so that nobody waits behind it`() async throws {
        let log = CollectedLog()
        try await withMigrations(Self.people, log: log) { migrator, directory, pool in
            try await migrator.migrate()
            try directory.write("0002_age", "ALTER TABLE people ADD COLUMN age int;")
            let reader = await pool.hold("SELECT FROM people")
            async let names = migrator.migrate()
            let isRead = await Result {
                for _ in 0..<3 {
                    let lines = log.lines("A migration waits until nobody is in its way").count
                    try await eventually { try await pool.isWaitedForTable() }
                    try await pool.withTransaction(TransactionOptions(lockTimeout: .seconds(1))) { session in
                        _ = try session.execute("SELECT FROM people")
                    }
                    _ = try await eventually {
                        log.lines("A migration waits until nobody is in its way").count > lines ? () : nil
                    }
                }
            }
            try await reader.release()
            try isRead.get()
            #expect(try await names == ["0002_age"])
        }
    }

    @Test func `what is done in steps is repeated until nothing is left`() async throws {
        try await withMigrations(Self.people) { migrator, directory, pool in
            try await migrator.migrate()
            try await pool.execute("INSERT INTO people SELECT n FROM generate_series(1, 25) n")
            try directory.write(
                "0002_names",
                """
                ALTER TABLE people ADD COLUMN xid xid8;
                -- in steps
                UPDATE people SET name = 'n' || id, xid = pg_current_xact_id()
                WHERE id IN (SELECT id FROM people WHERE name IS NULL LIMIT 10);
                ALTER TABLE people ALTER COLUMN name SET DEFAULT '';
                """
            )
            try await migrator.migrate()
            let counts = try await pool.all(
                "SELECT count(*) FROM people WHERE name = 'n' || id GROUP BY xid ORDER BY xid",
                as: Int.self
            )
            #expect(counts == [10, 10, 5])
        }
    }

    @Test func `an index that was cut off is dropped and built anew`() async throws {
        try await withMigrations(Self.people) { migrator, directory, pool in
            try await migrator.migrate()
            try await pool.withConnection { session in
                try session.execute("INSERT INTO people VALUES (1), (1)")
                _ = try? session.script("CREATE UNIQUE INDEX CONCURRENTLY people_by_id ON people (id)")
            }
            #expect(try await pool.indexes() == ["people_by_id": false])
            try directory.write("0002_index", "CREATE INDEX people_by_id ON people (id);")
            try await migrator.migrate()
            #expect(try await pool.indexes() == ["people_by_id": true])
        }
    }

    @Test func `an index of a partitioned table is built in one partition after the other`() async throws {
        let table = """
            CREATE TABLE days (id int) PARTITION BY RANGE (id);
            CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (10);
            CREATE TABLE days_default PARTITION OF days DEFAULT
            """
        try await withMigrations(["0001_days": table]) { migrator, directory, pool in
            try await migrator.migrate()
            try directory.write("0002_index", "CREATE UNIQUE INDEX days_by_id ON days (id) WHERE id > 0;")
            let writer = await pool.hold("INSERT INTO days_1 VALUES (1)")
            async let names = migrator.migrate()
            let isBuilding = await Result { try await eventually { try await pool.isBuildingIndex() } }
            let isWritten = await Result {
                try await pool.withTransaction(TransactionOptions(lockTimeout: .seconds(1))) { session in
                    try session.execute("CREATE TABLE days_2 (LIKE days INCLUDING ALL)")
                    try session.execute("ALTER TABLE days ATTACH PARTITION days_2 FOR VALUES FROM (10) TO (20)")
                    return try session.execute("INSERT INTO days VALUES (2), (12)")
                }
            }
            try await writer.release()
            try isBuilding.get()
            #expect(try isWritten.get() == 2)
            #expect(try await names == ["0002_index"])
            let indexes = try await pool.indexes()
            #expect(indexes.count == 4 && indexes.values.allSatisfy(\.self), "\(indexes)")
        }
    }

    @Test
    func `a file that fails in the middle is gone on with behind what was done, unless it was changed`() async throws {
        try await withMigrations(Self.people) { migrator, directory, pool in
            try await migrator.migrate()
            let text = """
                ALTER TABLE people ADD COLUMN age int;
                CREATE INDEX people_by_age ON people (age);
                INSERT INTO people (id) SELECT 1 / id FROM settings;
                """
            try directory.write("0002_age", text)
            await #expect(throws: PostgresError.self) { try await migrator.migrate() }
            #expect(try await pool.indexes() == ["people_by_age": true])
            #expect(try await migrator.status().pending == ["0002_age"])
            try directory.write("0002_age", text + " ")
            await #expect(throws: MigrationError.changedFile("0002_age")) { try await migrator.migrate() }
            try directory.write("0002_age", text)
            try await pool.script("CREATE TABLE settings (id int); INSERT INTO settings VALUES (1)")
            #expect(try await migrator.migrate() == ["0002_age"])
            #expect(try await migrator.status().isCurrent)
        }
    }

    @Test func `who waits for a turn does not hold up an index of whoever has it`() async throws {
        try await withMigrations(Self.people) { migrator, directory, pool in
            try await migrator.migrate()
            try directory.write("0002_index", "CREATE INDEX people_by_id ON people (id);")
            let writer = await pool.hold("INSERT INTO people VALUES (1)")
            async let first = migrator.migrate()
            let isBuilding = await Result { try await eventually { try await pool.isBuildingIndex() } }
            async let second = migrator.migrate()
            try await writer.release()
            try isBuilding.get()
            #expect(try await Set([first, second]) == [["0002_index"], []])
        }
    }
}

extension PostgresPool {
    /// Whether somebody builds an index and waits for others' transactions.
    fileprivate func isBuildingIndex() async throws -> Bool {
        try await first(
            """
            SELECT EXISTS (SELECT FROM pg_stat_activity
                           WHERE datname = current_database() AND query LIKE 'CREATE %INDEX CONCURRENTLY%'
                               AND wait_event = 'virtualxid')
            """
        ) ?? false
    }

    /// Whether somebody waits for a table.
    fileprivate func isWaitedForTable() async throws -> Bool {
        try await first("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'people'::regclass)")
            ?? false
    }

    /// The indexes that there are, and which of them are whole.
    fileprivate func indexes() async throws -> [String: Bool] {
        let found = try await query(
            """
            SELECT c.relname::text, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE 'schema%'
            """
        ) { row in (try row.decode(0, as: String.self), try row.decode(1, as: Bool.self)) }
        return Dictionary(uniqueKeysWithValues: found)
    }
}

extension String {
    /// The words of its statements.
    fileprivate var words: [Substring] {
        split(whereSeparator: \.isNewline).filter { !$0.drop(while: \.isWhitespace).hasPrefix("--") }
            .flatMap { $0.split { $0.isWhitespace || $0 == ";" } }
    }
}
