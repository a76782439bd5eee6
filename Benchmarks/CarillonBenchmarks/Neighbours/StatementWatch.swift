import Postgres
import Synchronization

/// Looks what the service's statements take, many times a second.
final class StatementWatch: Sendable {
    private static let interval = Duration.milliseconds(50)

    private let cluster: Cluster
    private let longestMilliseconds = Mutex(0)

    init(cluster: Cluster) {
        self.cluster = cluster
    }

    /// The longest time for which a statement was seen at work, in seconds: what is shorter than the interval may be missed.
    var longest: Double { Double(longestMilliseconds.withLock { $0 }) / 1000 }

    /// Looks until it is cancelled.
    func run() async throws -> Probe? {
        while !Task.isCancelled {
            let age = try await cluster.count(
                """
                SELECT coalesce(max(1000 * extract(epoch FROM clock_timestamp() - query_start)), 0)::bigint
                FROM pg_stat_activity
                WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()
                  AND application_name <> \(Cluster.applicationName)
                """
            )
            longestMilliseconds.withLock { $0 = max($0, age) }
            try? await Task.sleep(for: Self.interval)
        }
        return nil
    }
}
