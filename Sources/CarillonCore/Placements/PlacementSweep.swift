package import Logging
import ServiceLifecycle

/// Compares the list of who is where with the networks that placements have, and mends it: a network whose making was cut off is not
/// there, or is there and was not said to be; one whose deletion was cut off is on the list and gone.
package struct PlacementSweep: Service {
    private static let interval = Duration.seconds(60)
    /// For how long a network may be on the list before it is there.
    private static let patience = Duration.seconds(60)

    private let catalog: any PlacementCatalog
    private let reportSources: Placed<any NetworkReportSource>
    private let isRight: @Sendable (PlacementName) async throws -> Bool
    private let logger: Logger

    /// A sweep of home's list.
    ///
    /// - Parameters:
    ///   - catalog: The list.
    ///   - reportSources: Find the networks that there are.
    ///   - isRight: Whether a placement is the database that it was: in another one nothing is missing.
    ///   - logger: Told when that fails.
    package init(
        catalog: some PlacementCatalog,
        reportSources: Placed<any NetworkReportSource>,
        isRight: @escaping @Sendable (PlacementName) async throws -> Bool = { _ in true },
        logger: Logger
    ) {
        self.catalog = catalog
        self.reportSources = reportSources
        self.isRight = isRight
        self.logger = logger
    }

    /// Sweeps every minute until graceful shutdown.
    package func run() async throws {
        await repeating(every: Self.interval, jitter: 0.2) { await self.sweep() }
    }

    /// Mends what concerns placements that answer.
    package func sweep(patience: Duration = patience) async {
        do {
            _ = try await reportSources.each { name, reportSource in
                let listed = try await catalog.listed(in: name, olderThan: patience)
                guard !listed.isEmpty, try await isRight(name) else { return }
                let existing = Set(try await reportSource.namedNetworks().map(\.id))
                try await catalog.confirm(listed.filter(existing.contains))
                try await catalog.remove(listed.filter { !existing.contains($0) }, from: name, olderThan: patience)
            }
        } catch {
            logger.debug("Could not compare networks with their list", metadata: ["error": "\(error)"])
        }
    }
}
