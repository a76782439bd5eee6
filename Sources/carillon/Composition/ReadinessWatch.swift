import CarillonCore
import ServiceLifecycle

/// Looks every few seconds whether the service can work, for the metrics.
///
/// A scrape does not look itself: while PostgreSQL hangs, the metrics have to be there at once.
struct ReadinessWatch: Service {
    private static let interval = Duration.seconds(5)
    /// Until the service can work, whoever waits for it shall not wait longer for the metrics to say so.
    private static let intervalUntilReady = Duration.milliseconds(500)

    let metrics: ReadinessMetrics
    let look: @Sendable () async -> [PlacementName: ReadinessProbe.Answer]

    func run() async throws {
        try await repeating(with: ()) { _ in
            metrics.record(await look()) ? Self.interval : Self.intervalUntilReady
        }
        metrics.stops()
    }
}
