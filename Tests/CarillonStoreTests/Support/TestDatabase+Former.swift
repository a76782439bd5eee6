import CarillonTesting
import Foundation
import Postgres
import Synchronization

@testable import CarillonStore

private let formerTemplates = Mutex<[Int: Task<String, any Error>]>([:])

extension TestDatabase {
    /// Where to find a new database as a former release left it, with the migrations up to a number; by way of a proxy, if one is
    /// given.
    static func make(upTo version: Int, through proxy: FaultyProxy? = nil) async throws -> PostgresConfiguration {
        let template = formerTemplates.withLock { templates in
            let template = templates[version] ?? Task { try await makeTemplate(copyMigrations(upTo: version)) }
            templates[version] = template
            return template
        }
        return try await configuration(of: create(from: template.value), through: proxy?.directory)
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

/// The release before this one, as `packaging/former-release` names it.
struct FormerRelease {
    struct Unnamed: Error {}

    let migrations: Int

    static func read() throws -> FormerRelease {
        let file = URL(filePath: TestDatabase.migrations).deletingLastPathComponent().appending(
            path: "packaging/former-release"
        )
        let text = try String(contentsOf: file, encoding: .utf8)
        guard let line = text.firstMatch(of: /(?m)^migrations (\d+)$/), let count = Int(line.1) else { throw Unnamed() }
        return FormerRelease(migrations: count)
    }
}
