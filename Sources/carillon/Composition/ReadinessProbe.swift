import CarillonCore
import Postgres

/// Answers `GET /health/ready`: asks PostgreSQL itself, within a bounded time.
struct ReadinessProbe: Sendable {
    private let readiness: Readiness
    private let pool: PostgresPool

    init(readiness: Readiness, pool: PostgresPool) {
        self.readiness = readiness
        self.pool = pool
    }

    /// Why the service cannot work at the moment, in plain words; empty when it can.
    func reasons() async -> [String] {
        if let problem = readiness.problem { return [problem] }
        do {
            _ = try await pool.withConnection { session in try session.queryFirst("SELECT 1") { _ in true } }
            return []
        } catch {
            return ["\(error)"]
        }
    }
}
