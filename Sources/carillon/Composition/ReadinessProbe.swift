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
        /// For how long the oldest transaction has been looking at the database; `nil` when that could not be asked.
        var snapshotAge: Duration?
    }

    private let readiness: Readiness
    private let pool: PostgresPool
    private let clock: DatabaseClock
    private let watch: QueueWatch
    private let oldestWait: @Sendable () async throws -> Duration

    init(
        readiness: Readiness,
        pool: PostgresPool,
        clock: DatabaseClock,
        watch: QueueWatch,
        oldestWait: @escaping @Sendable () async throws -> Duration
    ) {
        self.readiness = readiness
        self.pool = pool
        self.clock = clock
        self.watch = watch
        self.oldestWait = oldestWait
    }

    /// Looks whether the service can work.
    func look() async -> Answer {
        if let problem = readiness.problem { return Answer(reasons: [problem], skew: nil) }
        do {
            let skew = try await clock.look(pool)
            let stuck = try await watch.stuckQueue(oldestWait: oldestWait)
            readiness.queue(stuck: stuck)
            let snapshotAge = try await OldestSnapshot.age(pool)
            let late = skew.isTooLarge ? "\(skew.description): let both follow the same time server" : nil
            return Answer(reasons: [late, stuck?.description].compactMap(\.self), skew: skew, snapshotAge: snapshotAge)
        } catch {
            return Answer(reasons: ["\(error)"], skew: nil)
        }
    }
}
