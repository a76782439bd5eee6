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
        await cancelWhenGracefulShutdown {
            var told: Set<CertificateSummary.Ending> = []
            while !Task.isCancelled {
                do {
                    metrics.record(bytes: try await DatabaseSize.bytes(pool))
                    let summary = try await CertificateSummary(pool)
                    metrics.record(summary, told: told)
                    told = Set(summary.first)
                } catch {
                    logger.debug("Could not look how large the database is", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: Self.interval * Double.random(in: 0.9...1.1))
            }
        }
    }
}
