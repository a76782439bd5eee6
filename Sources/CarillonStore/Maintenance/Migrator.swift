package import CarillonCore
import Crypto
import Foundation
package import Logging
package import Postgres

/// Brings the schema up to date with the numbered files of a directory, `0001_name.sql`, `0002_name.sql`, ….
///
/// Others work on the database meanwhile: each file is run in steps (``MigrationStep``), in each of which nobody is held up for
/// long, and a run that is cut off is gone on with by the next. A database in which nothing is yet gets each file in one
/// transaction. Any number of replicas may do this at once; they take turns.
package struct Migrator: Sendable {
    /// Any number, as long as nobody else takes it: "carillon" in ASCII.
    private static let lock: Int64 = 0x6361_7269_6C6C_6F6E

    private let pool: PostgresPool
    private let directory: String
    private let logger: Logger

    package init(pool: PostgresPool, directory: String, logger: Logger) {
        self.pool = pool
        self.directory = directory
        self.logger = logger
    }

    /// Runs what is missing, in order, however long others have to be waited for.
    /// - Returns: The names of the files that were run, or gone on with.
    /// - Throws: ``MigrationError`` before anything is changed; `PostgresError` when a step fails, which is undone then.
    @discardableResult
    package func migrate() async throws -> [String] {
        let migrations = try Migration.all(in: directory)
        guard try await !pool.poolMode().sharesSessions else { throw MigrationError.pooled }
        return try await pool.withConnection { session in
            // Its settings and the lock are for nobody else.
            defer { session.retire() }
            try Self.check(session)
            try session.script("SET statement_timeout = 0")
            try session.script("SET lock_timeout = 0")
            try takeLock(session)
            let applied = try Self.applied(session)
            try Migration.check(migrations, against: applied)
            let missing = migrations.dropFirst(applied.count)
            if !missing.isEmpty {
                try session.script(Self.creatingTable)
                try session.script(MigrationRun.creatingTable)
            }
            for migration in missing {
                let steps = applied.isEmpty ? [.together(migration.text)] : migration.steps
                try MigrationRun(migration: migration, steps: steps, logger: logger).run(session)
            }
            try session.execute("SELECT pg_advisory_unlock(\(Self.lock))")
            return missing.map(\.name)
        }
    }

    /// Passes databases that migrations and statements are written for.
    private static func check(_ session: borrowing PostgresSession) throws {
        let server = try session.queryFirst(
            "SELECT current_setting('server_version_num')::bigint, current_setting('server_encoding')"
        ) { row in (version: try row.decode(0, as: Int.self), encoding: try row.decode(1, as: String.self)) }
        guard let server else { return }
        if let error = ServerTooOld(versionNumber: server.version) { throw error }
        if let error = WrongEncoding(server.encoding) { throw error }
    }

    /// What is missing. A database that is newer than the files is not behind: replicas are upgraded one by one.
    package func status() async throws -> MigrationStatus {
        let migrations = try Migration.all(in: directory)
        let applied = try await pool.withConnection { session in
            try Self.check(session)
            return try Self.applied(session)
        }
        let versions = Set(applied.map(\.version))
        return MigrationStatus(
            version: versions.max().map { Int($0) },
            pending: migrations.filter { !versions.contains($0.version) }.map(\.name)
        )
    }

    /// Asks again and again: an index waits for all who have begun a statement before, also for one that waits for a turn.
    private func takeLock(_ session: borrowing PostgresSession) throws {
        var isWaiting = false
        while try session.first("SELECT pg_try_advisory_lock(\(Self.lock))", as: Bool.self) != true {
            if !isWaiting { logger.notice("Another process migrates the database, which is waited for") }
            isWaiting = true
            try session.sleep(seconds: 0.1)
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
        let exists = try session.first("SELECT to_regclass('schema_migrations') IS NOT NULL", as: Bool.self)
        guard exists == true else { return [] }
        return try session.query("SELECT version, name, checksum FROM schema_migrations ORDER BY version") { row in
            AppliedMigration(version: try row.decode(0), name: try row.decode(1), checksum: try row.decode(2))
        }
    }
}
