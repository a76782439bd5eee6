import CarillonTesting
import Foundation
import Postgres

@testable import CarillonStore

/// A directory of migrations that lasts as long as a test.
struct MigrationDirectory {
    let path: String

    func write(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(path)/\(name).sql", atomically: true, encoding: .utf8)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name).sql") }
}

/// Lends a migrator for an empty database with these files.
func withMigrations(
    _ files: [String: String],
    log: CollectedLog = CollectedLog(),
    _ body: (Migrator, MigrationDirectory, PostgresPool) async throws -> Void
) async throws {
    let directory = MigrationDirectory(path: FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory.path) }
    for (name, text) in files { try directory.write(name, text) }
    try await TestDatabase.withPool(migrated: false) { pool in
        try await body(Migrator(pool: pool, directory: directory.path, logger: log.logger), directory, pool)
    }
}
