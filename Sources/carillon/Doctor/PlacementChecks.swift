import CarillonCore
import CarillonStore
import Logging
import Postgres

/// Looks at several placements together: whether each is one of its own, and whether all are configured that have networks.
struct PlacementChecks: Sendable {
    private static let subject = "placements"

    let settings: Settings
    private let logger = Logger(label: "carillon.doctor") { _ in SwiftLogNoOpLogHandler() }

    /// What is found; what concerns one of them alone is found by ``DatabaseChecks``.
    func finding() async -> Finding {
        do {
            let identities = PlacementIdentities(settings.placementNames)
            for name in settings.placementNames {
                _ = try await Database.withPool(settings, of: name, logger: logger) { pool in
                    try await identities.check(name, pool)
                }
            }
            let records = try await Database.withPool(settings, logger: logger) { pool in
                try await PostgresPlacementCatalog(pool: pool).records()
            }
            let foreign = records.filter { $0.networks > 0 && !settings.placementNames.contains($0.name) }
            guard foreign.isEmpty else {
                let list = foreign.map { "\($0.networks) in \($0.name)" }.joined(separator: ", ")
                return .fail(Self.subject, "networks are in placements whose URLs are not configured here: \(list)")
            }
            let list = records.map { "\($0.name) (\($0.state.rawValue), \($0.networks))" }.joined(separator: ", ")
            return .ok(Self.subject, records.isEmpty ? "the next start begins their list" : list)
        } catch {
            return .fail(Self.subject, "\(error)")
        }
    }
}
