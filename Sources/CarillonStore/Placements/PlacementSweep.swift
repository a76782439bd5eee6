package import CarillonCore
package import Logging
package import Postgres
import ServiceLifecycle

/// Compares the list of who is where with the networks that placements have, and mends it: a network whose making was cut off is not
/// there, or is there and was not said to be; one whose deletion was cut off is on the list and gone.
package struct PlacementSweep: Service {
    private static let interval = Duration.seconds(60)
    /// For how long a network may be on the list before it is there.
    private static let patience = Duration.seconds(60)

    private let catalog: PostgresPlacementCatalog
    private let pools: Placed<PostgresPool>
    private let logger: Logger

    /// A sweep of home's list, `catalog`; `logger` is told when that fails.
    package init(catalog: PostgresPlacementCatalog, pools: Placed<PostgresPool>, logger: Logger) {
        self.catalog = catalog
        self.pools = pools
        self.logger = logger
    }

    /// Sweeps every minute until graceful shutdown.
    package func run() async throws {
        await repeating(every: Self.interval, jitter: 0.2) { await self.sweep() }
    }

    /// Mends what concerns placements that answer.
    package func sweep(patience: Duration = patience) async {
        do {
            _ = try await pools.each { name, pool in
                let listed = try await catalog.listed(in: name, olderThan: patience)
                // In another database than it was nothing is missing.
                guard !listed.isEmpty, try await catalog.isRight(name, pool) else { return }
                let existing = Set(
                    try await pool.query("SELECT network_id FROM networks WHERE \(sql: .isHere)") { row in
                        try row.id(0, of: Network.self)
                    }
                )
                try await catalog.confirm(listed.filter(existing.contains))
                try await catalog.remove(listed.filter { !existing.contains($0) }, from: name, olderThan: patience)
            }
        } catch {
            logger.debug("Could not compare networks with their list", metadata: ["error": "\(error)"])
        }
    }
}
