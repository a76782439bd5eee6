import CarillonCore
import CarillonStore
import Postgres

/// Answers `GET /health/ready`: asks PostgreSQL itself, also what time it is, within a bounded time.
struct ReadinessProbe: Sendable {
    /// What one look told.
    struct Answer: Sendable {
        /// Why the service cannot work at the moment, in plain words; empty when it can.
        let reasons: [String]
        /// How far the clocks are apart; `nil` when the database could not be asked.
        let skew: ClockSkew?
    }

    private let readiness: Readiness
    private let pool: PostgresPool
    private let clock: WallClock

    init(readiness: Readiness, pool: PostgresPool, clock: WallClock) {
        self.readiness = readiness
        self.pool = pool
        self.clock = clock
    }

    /// Looks whether the service can work.
    func look() async -> Answer {
        if let problem = readiness.problem { return Answer(reasons: [problem], skew: nil) }
        do {
            let skew = try await ClockSkew.measure(pool, clock: clock)
            let reasons = skew.isTooLarge ? ["\(skew.description): let both follow the same time server"] : []
            return Answer(reasons: reasons, skew: skew)
        } catch {
            return Answer(reasons: ["\(error)"], skew: nil)
        }
    }
}
