import CarillonTesting
import Foundation
import Postgres
import Synchronization

@testable import CarillonStore

private let formerTemplates = Mutex<[Int: Task<String, any Error>]>([:])

extension TestDatabase {
    /// Where to find a new database as a former release left it, with the migrations up to a number; by way of a proxy, if one is
    /// given.
    static func make(upTo version: Int, through proxy: CuttingProxy? = nil) async throws -> PostgresConfiguration {
        let template = formerTemplates.withLock { templates in
            let template = templates[version] ?? Task { try await makeTemplate(copyMigrations(upTo: version)) }
            templates[version] = template
            return template
        }
        return try await configuration(of: create(from: template.value), through: proxy?.directory)
    }

    /// Something between a test and the cluster that all share.
    static func proxy() async throws -> CuttingProxy {
        try CuttingProxy(server: await socket)
    }

    private static func copyMigrations(upTo version: Int) async throws -> String {
        _ = try await socket
        let copy = "\(directory)/migrations-\(version)"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        for migration in try Migration.all(in: migrations).prefix(version) {
            try migration.text.write(toFile: "\(copy)/\(migration.name).sql", atomically: true, encoding: .utf8)
        }
        return copy
    }
}

/// Lends a pool on a database of its own.
func withDatabase<Value>(
    _ configuration: PostgresConfiguration? = nil,
    migrated: Bool = true,
    _ body: (PostgresPool) async throws -> Value
) async throws -> Value {
    try await TestDatabase.withPool(configuration, migrated: migrated, body)
}

/// Lends all stores on a database of their own.
func withStores<Value>(
    _ configuration: PostgresConfiguration? = nil,
    _ body: (StoreScene, PostgresPool) async throws -> Value
) async throws -> Value {
    try await StoreScene.withStores(configuration, body)
}
