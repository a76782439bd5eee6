import Crypto
import Foundation
package import Logging
package import Postgres

/// Brings the schema up to date with the numbered files of a directory, `0001_name.sql`, `0002_name.sql`, ….
///
/// Each file runs in a transaction of its own, together with its line in `schema_migrations`: a statement that cannot,
/// such as `CREATE INDEX CONCURRENTLY`, cannot be used. Any number of replicas may do this at once; they take turns.
package struct Migrator: Sendable {
    /// How long a migration waits for a lock before it gives up, rather than holding up those who wait behind it.
    private static let lockTimeout = Duration.seconds(10)
    /// How long a replica waits for the others to finish.
    private static let turnTimeout = Duration.seconds(300)
    /// Any number, as long as nobody else takes it: "carillon" in ASCII.
    private static let turn: Int64 = 0x6361_7269_6C6C_6F6E

    private let pool: PostgresPool
    private let directory: String
    private let logger: Logger

    /// A migrator for the database of `pool` with the files in `directory`.
    package init(pool: PostgresPool, directory: String, logger: Logger) {
        self.pool = pool
        self.directory = directory
        self.logger = logger
    }

    /// Runs what is missing, in order.
    /// - Returns: The names of the files that were run.
    /// - Throws: ``MigrationError`` before anything is changed; `PostgresError` when a file fails, which is undone then.
    @discardableResult
    package func migrate() async throws -> [String] {
        let migrations = try Migration.all(in: directory)
        var applied: [String] = []
        while let name = try await applyNext(of: migrations) { applied.append(name) }
        return applied
    }

    /// What is missing. A database that is newer than the files is not behind: replicas are upgraded one by one.
    package func status() async throws -> MigrationStatus {
        let migrations = try Migration.all(in: directory)
        let applied = try await pool.withConnection { session in try Self.applied(session) }
        let versions = Set(applied.map(\.version))
        return MigrationStatus(pending: migrations.filter { !versions.contains($0.version) }.map(\.name))
    }

    private func applyNext(of migrations: [Migration]) async throws -> String? {
        let options = TransactionOptions(statementTimeout: .zero, lockTimeout: Self.turnTimeout)
        return try await pool.withTransaction(options) { session in
            try session.execute("SELECT pg_advisory_xact_lock(\(Self.turn))")
            let applied = try Self.applied(session)
            try Migration.check(migrations, against: applied)
            guard let next = migrations.dropFirst(applied.count).first else { return nil }
            logger.info("Migrating the database", metadata: ["migration": "\(next.name)"])
            try session.execute("SELECT set_config('lock_timeout', \(Self.lockTimeout.milliseconds), true)")
            if applied.isEmpty { try session.script(Self.creatingTable) }
            try session.script(SQL(trusted: next.text))
            try session.execute(
                """
                INSERT INTO schema_migrations (version, name, checksum, applied_at)
                VALUES (\(next.version), \(next.name), \(next.checksum), now())
                """
            )
            return next.name
        }
    }

    private static let creatingTable: SQL = """
        CREATE TABLE IF NOT EXISTS schema_migrations (
            version    bigint      PRIMARY KEY,
            name       text        NOT NULL,
            checksum   text        NOT NULL,
            applied_at timestamptz NOT NULL
        )
        """

    private static func applied(_ session: borrowing PostgresSession) throws -> [AppliedMigration] {
        let exists = try session.queryFirst("SELECT to_regclass('schema_migrations') IS NOT NULL") { row in
            try row.decode(0, as: Bool.self)
        }
        guard exists == true else { return [] }
        return try session.query("SELECT version, name, checksum FROM schema_migrations ORDER BY version") { row in
            AppliedMigration(version: try row.decode(0), name: try row.decode(1), checksum: try row.decode(2))
        }
    }
}

/// How far a database is behind the files.
package struct MigrationStatus: Sendable, Equatable {
    /// The names of the files that were not run yet, in order.
    package var pending: [String]

    /// Whether nothing is missing.
    package var isCurrent: Bool { pending.isEmpty }
}

extension Duration {
    /// Whole milliseconds, as PostgreSQL's settings take them.
    fileprivate var milliseconds: String { "\(components.seconds * 1000)" }
}
