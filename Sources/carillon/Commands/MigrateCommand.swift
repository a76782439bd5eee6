import ArgumentParser
import CarillonCore
import CarillonStore
import EmbeddedPostgres
import Foundation
import Logging
import Postgres

/// `carillon migrate`: brings the database's schema up to date.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the database's schema up to date.",
        discussion: "Does nothing when there is nothing to do. Safe to run many times and from many machines at once."
    )

    @Option(help: ArgumentHelp("Only this placement.", valueName: "name"))
    var placement: String?

    func run() async throws {
        try await reportingErrors {
            let settings = try Settings(environment: ProcessInfo.processInfo.environment, for: .database)
            guard settings.migrations.exists else {
                throw StartError("there is no folder \(settings.migrations.path): set CARILLON_MIGRATIONS_DIR")
            }
            let logger = Logger.standardError(settings)
            let areSeveral = !settings.placements.isEmpty
            var failed = false
            for name in try settings.placements(named: placement) {
                if areSeveral { print("placement \(name):") }
                do {
                    let applied = try await Database.withPool(
                        settings,
                        of: name,
                        logger: logger,
                        pastPooler: true,
                        makingTables: true
                    ) { pool in
                        try await Migrator(pool: pool, directory: settings.migrations.path, logger: logger).migrate()
                    }
                    for name in applied { print("applied \(name)") }
                    print(applied.isEmpty ? "The schema is up to date." : "The schema is up to date now.")
                } catch  where areSeveral && placement == nil {
                    print("not migrated: \(error)")
                    failed = true
                }
            }
            if failed { throw ExitCode.failure }
        }
    }
}

extension Settings {
    /// Passes where no migration is missing.
    func checkSchema(_ pool: PostgresPool) async throws {
        let pending = try await Migrator(pool: pool, directory: migrations.path, logger: .silent).status().pending
        guard !pending.isEmpty else { return }
        throw StartError(
            "the schema is not up to date (\(pending.joined(separator: ", "))): run carillon migrate first"
        )
    }
}
