import CarillonCore
import CarillonStore
import Postgres

/// Answers `GET /health/ready`: asks PostgreSQL itself, also what time it is, within a bounded time.
struct ReadinessProbe: Sendable {
    private let readiness: Readiness
    private let pool: PostgresPool
    private let clock: WallClock

    init(readiness: Readiness, pool: PostgresPool, clock: WallClock) {
        self.readiness = readiness
        self.pool = pool
        self.clock = clock
    }

    /// Why the service cannot work at the moment, in plain words; empty when it can.
    func reasons() async -> [String] {
        if let problem = readiness.problem { return [problem] }
        do {
            let skew = try await ClockSkew.measure(pool, clock: clock)
            if skew.isTooLarge { return ["\(skew.description): let both follow the same time server"] }
            return []
        } catch {
            return ["\(error)"]
        }
    }
}
