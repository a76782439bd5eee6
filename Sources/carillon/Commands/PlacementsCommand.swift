import ArgumentParser
import CarillonCore
import CarillonStore
import Foundation
import Logging
import Postgres

/// `carillon placements`: says how the placements are.
struct PlacementsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "placements",
        abstract: "Say which placements there are, what state they are in and how many networks they have.",
        discussion: "Asks the databases themselves, so that no service has to run. Changes nothing.",
        subcommands: [PlacementsDistributeCommand.self]
    )

    func run() async throws {
        try await reportingErrors {
            let settings = try Settings(environment: ProcessInfo.processInfo.environment, for: .database)
            let records = try await Database.withPool(settings, logger: .silent) { pool in
                do {
                    return try await PostgresPlacementCatalog(pool: pool).records()
                } catch let error as PostgresError where error.sqlState == .undefinedTable {
                    throw StartError("home's schema is not up to date: run carillon migrate")
                }
            }
            let known = Dictionary(uniqueKeysWithValues: records.map { ($0.name, $0) })
            let used = records.filter { $0.networks > 0 }.map(\.name)
            var rows = [["NAME", "STATE", "NETWORKS", "SCHEMA", "SIZE", "REASON"]]
            for name in Set(settings.placementNames).union(used).sorted() {
                let (look, networks) = await look(at: name, settings)
                let record = known[name]
                rows.append([
                    name.rawValue,
                    record?.state.rawValue ?? (name == .home ? PlacementState.open.rawValue : "new"),
                    record.map { "\($0.networks)" } ?? networks.map { "\($0)" } ?? "-",
                    look.schema.map { $0.pending.isEmpty ? "\($0.version ?? 0)" : "\($0.pending.count) pending" }
                        ?? "-",
                    look.bytes.map { "\($0 >> 20) MiB" } ?? "-",
                    look.reason ?? "",
                ])
            }
            for row in Self.aligned(rows) { print(row) }
        }
    }

    /// How a placement is, and how many networks there are, where that can be asked.
    private func look(at name: PlacementName, _ settings: Settings) async -> (
        PlacementAdministration.Look, networks: Int?
    ) {
        typealias Look = PlacementAdministration.Look
        guard settings.placementNames.contains(name) else {
            return (Look(reason: "its URL is not configured here"), nil)
        }
        do {
            return try await Database.withPool(settings, of: name, logger: .silent) { pool in
                let schema = try await Migrator(pool: pool, directory: settings.migrations.path, logger: .silent)
                    .status()
                let networks =
                    schema.isCurrent
                    ? try await PostgresNetworkReportSource(
                        pool: pool,
                        outbox: PostgresOutbox(pool: pool, ids: UUIDv7Generator())
                    )
                    .namedNetworks().count : nil
                let look = Look(
                    reason: nil,
                    schema: schema,
                    bytes: try await DatabaseSize.bytes(pool)
                )
                return (look, networks)
            }
        } catch {
            return (Look(reason: "\(error)"), nil)
        }
    }

    /// Rows whose columns begin below each other.
    static func aligned(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
    }
}
