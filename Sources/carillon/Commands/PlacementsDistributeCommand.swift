import ArgumentParser
import CarillonCore
import CarillonStore
import Foundation
import Logging
import Postgres

/// `carillon placements distribute`: has Citus keep a placement's schema on a server of its choice.
struct PlacementsDistributeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "distribute",
        abstract: "Have Citus keep a placement's tables on a server of its choice, together.",
        discussion: """
            To be done once, with no service running, after carillon migrate. Does what is not done yet, and looks whether what was done is \
            in force: safe to run again. Needs the rights of a superuser.
            """
    )

    @Argument(help: "The placement.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "The same database at Citus's coordinator, by somebody who may do this; the placement's own URL unless given.",
            valueName: "url"
        )
    )
    var coordinator: String?

    func run() async throws {
        try await reportingErrors {
            let settings = try Settings(environment: ProcessInfo.processInfo.environment, for: .database)
            let placement = try settings.placements(named: name)[0]
            guard case .server(let server) = settings.database(of: placement) else {
                throw StartError("the embedded PostgreSQL has no Citus: set \(Setting.databaseUrl.variable)")
            }
            let schema = try await Database.withPool(settings, of: placement, logger: .silent) { pool in
                try await Self.suited(try await CitusSchema.look(pool), pool, settings)
            }
            var way = try coordinator.map { url throws(StartError) in
                do throws(PostgresError) { return try PostgresConfiguration(url: url) } catch {
                    throw StartError("--coordinator: \(error)")
                }
            }
            way = way ?? server.atCoordinator ?? server
            let done = try await Self.withCoordinator(way ?? server) { pool in
                let there = try await CitusSchema.look(pool, at: schema.name)
                guard let there, there.isCoordinator else {
                    throw StartError(
                        "this has to be done at Citus's coordinator: name it with --coordinator postgres://…,"
                            + " or with ?coordinator=host:port in the placement's URL"
                    )
                }
                guard there.workers > 0 else {
                    throw StartError("Citus has no server to keep tables on: SELECT citus_add_node('host', 5432)")
                }
                return try await CitusDistribution(of: schema.name, usedBy: schema.role, pool).run()
            }
            for step in done { print(step) }
            try await Self.expectSettings(settings, placement)
            print(
                done.isEmpty
                    ? "The schema \(schema.name) is distributed, and its settings are in force."
                    : "The schema \(schema.name) is distributed now, and its settings are in force. Start the replicas anew."
            )
        }
    }

    /// What can be distributed.
    private static func suited(
        _ schema: CitusSchema?,
        _ pool: PostgresPool,
        _ settings: Settings
    ) async throws -> CitusSchema {
        guard let schema else {
            throw StartError(
                "the database has no Citus: set shared_preload_libraries = 'citus' on all its servers, start them anew, and say"
                    + " CREATE EXTENSION citus in it"
            )
        }
        guard schema.knowsSchemas else {
            throw StartError("this takes Citus 12 or later, and the database has \(schema.version)")
        }
        guard schema.name != "public", !schema.name.isEmpty else {
            throw StartError(
                "Citus does not distribute the schema public: name another in the placement's URL, ?options=-c%20search_path%3Dcarillon_p1,"
                    + " and run carillon migrate"
            )
        }
        try await settings.checkSchema(pool)
        return schema
    }

    private static func withCoordinator<Value>(
        _ configuration: PostgresConfiguration,
        _ body: (PostgresPool) async throws -> Value
    ) async throws -> Value {
        var configuration = configuration
        configuration.poolSize = 1
        // Rows that are there already are copied.
        configuration.statementTimeout = .zero
        return try await PostgresPool.withPool(configuration: configuration, logger: .silent, body)
    }

    /// Looks with new sessions of the placement's own role.
    private static func expectSettings(_ settings: Settings, _ placement: PlacementName) async throws {
        let lacking = try await Database.withPool(settings, of: placement, logger: .silent, adjusting: Self.adjust) {
            pool in try await CitusSchema.lackingSettings(pool)
        }
        guard lacking.isEmpty else {
            throw StartError(
                "where the tables are, \(lacking.map(\.description).joined(separator: ", ")): sessions between Citus's servers that"
                    + " are older than the settings of the role have others; once these are closed, run this again"
            )
        }
    }

    private static func adjust(_ configuration: inout PostgresConfiguration) {
        configuration.preparesStatements = false
        configuration.planForStores()
    }
}
