import CarillonCore
import CarillonStore
import Logging
import Postgres
import ServiceLifecycle

/// Looks every few minutes at what changes slowly in the database, for the metrics; a scrape does not look itself.
struct DatabaseWatch: Service {
    private static let interval = Duration.seconds(300)

    let pool: PostgresPool
    let metrics: DatabaseMetrics
    let logger: Logger

    func run() async throws {
        try await repeating(with: Set<CertificateSummary.Ending>(), jitter: 0.1) { told in
            do {
                metrics.record(bytes: try await DatabaseSize.bytes(pool))
                let summary = try await CertificateSummary(pool)
                metrics.record(summary, told: told)
                told = Set(summary.first)
            } catch {
                logger.debug("Could not look how large the database is", metadata: ["error": "\(error)"])
            }
            return Self.interval
        }
    }
}
