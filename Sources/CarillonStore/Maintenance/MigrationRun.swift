import Logging
import Postgres

/// Runs what is missing of one file beside those who work on its tables, and goes on where it was cut off.
///
/// Nobody waits for it longer than ``patience``, and a moment: a lock that it does not get by then it lets go, and tries again.
struct MigrationRun: Sendable {
    /// How long a lock is waited for. Others queue behind whoever waits.
    static let patience = Duration.milliseconds(250)
    /// The first pause between two tries; each one is twice as long, until they are as long as the last.
    private static let pauses = (first: 0.25, last: 8.0)
    /// The pause between two parts of what is done in steps, in which others have the disk.
    private static let breath = 0.02

    let migration: Migration
    /// All of it, also what was done before.
    let steps: [MigrationStep]
    let logger: Logger

    func run(_ session: borrowing PostgresSession) throws {
        logger.info("Migrating the database", metadata: ["migration": "\(migration.name)"])
        let done = try stepsDone(session)
        for (number, step) in steps.enumerated().dropFirst(done) {
            try untilDone(session) { session in
                switch step {
                case .together(let text):
                    try gently(session) { session in
                        // One command at a time, as a server wants them that hands them on to others.
                        try session.pipeline(CommandScanner(text).map { .unprepared(SQL(trusted: $0)) })
                        try note(done: number + 1, session)
                    }
                    return
                case .index(let index): try build(index, session)
                case .key(let key): try make(key, session)
                case .repeated(let statement): try `repeat`(statement, session)
                }
                try gently(session) { session in try note(done: number + 1, session) }
            }
        }
    }

    private func gently(
        _ session: borrowing PostgresSession,
        _ body: (borrowing PostgresSession) throws -> Void
    ) throws {
        try session.withTransaction(.init(statementTimeout: .zero, lockTimeout: Self.patience), body)
    }

    /// Tries again for as long as somebody is in the way.
    private func untilDone(
        _ session: borrowing PostgresSession,
        _ body: (borrowing PostgresSession) throws -> Void
    ) throws {
        var pause = Self.pauses.first
        while true {
            do {
                return try body(session)
            } catch let error as PostgresError where error.isContention {
                logger.notice(
                    "A migration waits until nobody is in its way",
                    metadata: ["migration": "\(migration.name)", "reason": "\(error)", "again in seconds": "\(pause)"]
                )
                try session.sleep(seconds: pause)
                pause = min(2 * pause, Self.pauses.last)
            }
        }
    }

    private func `repeat`(_ statement: String, _ session: borrowing PostgresSession) throws {
        var count = 1
        while count > 0 {
            try gently(session) { session in count = try session.execute(SQL(trusted: statement)) }
            try session.sleep(seconds: Self.breath)
        }
    }
}

// What is done is written down with the step, or behind it where that is in no transaction.
extension MigrationRun {
    static let creatingTable: SQL = """
        CREATE TABLE IF NOT EXISTS schema_migration_steps (
            version  bigint  PRIMARY KEY,
            checksum text    NOT NULL,
            done     integer NOT NULL
        )
        """

    private func stepsDone(_ session: borrowing PostgresSession) throws -> Int {
        let found = try session.queryFirst(
            "SELECT done, checksum FROM schema_migration_steps WHERE version = \(migration.version)"
        ) { row in (done: try row.decode(0, as: Int.self), checksum: try row.decode(1, as: String.self)) }
        guard let found else { return 0 }
        guard found.checksum == migration.checksum else { throw MigrationError.changedFile(migration.name) }
        return found.done
    }

    private func note(done: Int, _ session: borrowing PostgresSession) throws {
        guard done == steps.count else {
            try session.execute(
                """
                INSERT INTO schema_migration_steps (version, checksum, done)
                VALUES (\(migration.version), \(migration.checksum), \(done))
                ON CONFLICT (version) DO UPDATE SET done = EXCLUDED.done
                """
            )
            return
        }
        try session.execute("DELETE FROM schema_migration_steps WHERE version = \(migration.version)")
        try session.execute(
            """
            INSERT INTO schema_migrations (version, name, checksum, applied_at)
            VALUES (\(migration.version), \(migration.name), \(migration.checksum), now())
            """
        )
    }
}

// Indexes are built while others write to the table.
extension MigrationRun {
    private func build(_ index: IndexDefinition, _ session: borrowing PostgresSession) throws {
        guard try isPartitioned(index, session) else { return try buildBeside(index, session) }
        // A new partition has the index from then on.
        if try isValid(index, session) == nil {
            try gently(session) { session in try session.script(index.statement(.withoutPartitions)) }
        }
        let isAttached: SQL = """
            SELECT FROM pg_inherits a JOIN pg_index i ON i.indexrelid = a.inhrelid
            WHERE a.inhparent = to_regclass(\(index.name)) AND i.indrelid = c.oid
            """
        while let partition = try partition(of: index.table, without: isAttached, session) {
            let part = index.of(partition: partition)
            do {
                try buildBeside(part, session)
                try gently(session) { session in
                    try session.script(
                        "ALTER INDEX \(identifier: index.name) ATTACH PARTITION \(identifier: part.name)"
                    )
                }
            } catch let error as PostgresError where error.sqlState == .undefinedTable {
                // Its day has been dropped meanwhile.
                continue
            }
        }
    }

    /// PostgreSQL waits meanwhile for everybody who has begun before; nobody waits for that.
    private func buildBeside(_ index: IndexDefinition, _ session: borrowing PostgresSession) throws {
        switch try isValid(index, session) {
        case true?: return
        case false?: try session.script("DROP INDEX CONCURRENTLY \(identifier: index.name)")
        case nil: break
        }
        logger.info("Building an index", metadata: ["index": "\(index.name)", "table": "\(index.table)"])
        try session.script(index.statement(.concurrently))
    }

    /// Whether an index is whole; `nil` when there is none. One that was cut off is there and is of no use.
    private func isValid(_ index: IndexDefinition, _ session: borrowing PostgresSession) throws -> Bool? {
        try session.first("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(\(index.name))")
    }

    /// Makes a primary key of an index that is built beside those who write; of a partitioned table each partition's first.
    private func make(_ key: IndexDefinition, _ session: borrowing PostgresSession) throws {
        guard try !hasKey(key, session) else { return }
        let columns: SQL
        if try isPartitioned(key, session) {
            let isKeyed: SQL = "SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary"
            while let partition = try partition(of: key.table, without: isKeyed, session) {
                let part = IndexDefinition(
                    name: "\(partition)_pkey",
                    table: partition,
                    isUnique: true,
                    columns: key.columns
                )
                // Its day may have been dropped meanwhile.
                do { try make(part, session) } catch let error as PostgresError where error.sqlState == .undefinedTable
                {}
            }
            // What the partitions have is taken, and not built once more.
            columns = SQL(trusted: key.columns)
        } else {
            try buildBeside(key, session)
            columns = " USING INDEX \(identifier: key.name)"
        }
        try gently(session) { session in
            try session.script(
                """
                ALTER TABLE \(identifier: key.table)
                ADD CONSTRAINT \(identifier: key.name) PRIMARY KEY\(sql: columns)
                """
            )
        }
    }

    private func hasKey(_ key: IndexDefinition, _ session: borrowing PostgresSession) throws -> Bool {
        try session.first(
            "SELECT true FROM pg_index WHERE indexrelid = to_regclass(\(key.name)) AND indisprimary"
        ) ?? false
    }

    private func isPartitioned(_ index: IndexDefinition, _ session: borrowing PostgresSession) throws -> Bool {
        try session.first("SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(\(index.table))") ?? false
    }

    /// The first partition `c` of a table for which nothing is found.
    private func partition(of table: String, without: SQL, _ session: borrowing PostgresSession) throws -> String? {
        try session.first(
            """
            SELECT c.relname::text FROM pg_inherits p JOIN pg_class c ON c.oid = p.inhrelid
            WHERE p.inhparent = to_regclass(\(table)) AND NOT EXISTS (\(sql: without))
            ORDER BY c.relname LIMIT 1
            """
        )
    }
}

extension IndexDefinition {
    fileprivate func statement(_ manner: Manner) -> SQL {
        """
        CREATE \(sql: isUnique ? "UNIQUE " : "")INDEX \(sql: manner == .concurrently ? "CONCURRENTLY " : "")\(identifier: name)
        ON \(sql: manner == .withoutPartitions ? "ONLY " : "")\(identifier: table)\(sql: SQL(trusted: columns))
        """
    }

    fileprivate enum Manner {
        case concurrently, withoutPartitions
    }
}

extension PostgresSession {
    /// Waits where a cancellation reaches it.
    func sleep(seconds: Double) throws {
        try script("SELECT pg_sleep(\(sql: SQL(trusted: "\(seconds)")))")
    }
}
