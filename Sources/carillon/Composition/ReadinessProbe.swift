import CarillonCore
import CarillonStore
import Postgres

/// Looks whether a placement can be used: asks PostgreSQL itself, also what time it is, within a bounded time.
struct ReadinessProbe: Sendable {
    struct Answer: Sendable {
        /// Why the service cannot work at the moment, in plain words; empty when it can.
        let reasons: [String]
        /// How far the clocks are apart; `nil` when the database could not be asked.
        let skew: ClockSkew?
        /// For how long the oldest transaction has been looking at the database; `nil` when that could not be asked.
        var snapshotAge: Duration?
    }

    let state: DatabaseState
    private let pool: PostgresPool
    private let clock: DatabaseClock
    private let watch: QueueWatch
    private let oldestWait: @Sendable () async throws -> Duration
    private let readsTable: Bool

    /// A probe of one placement; it reads one of its tables too where that is somebody else than who tells the time.
    init(
        state: DatabaseState,
        pool: PostgresPool,
        clock: DatabaseClock,
        watch: QueueWatch,
        oldestWait: @escaping @Sendable () async throws -> Duration,
        readsTable: Bool = false
    ) {
        self.state = state
        self.pool = pool
        self.clock = clock
        self.watch = watch
        self.oldestWait = oldestWait
        self.readsTable = readsTable
    }

    func look() async -> Answer {
        if let problem = state.problem { return Answer(reasons: [problem], skew: nil) }
        do {
            let skew = try await clock.look(pool)
            if readsTable { _ = try await PlacementIdentity.id(pool) }
            let stuck = try await watch.stuckQueue(oldestWait: oldestWait)
            state.queue(stuck: stuck)
            let snapshotAge = try await OldestSnapshot.age(pool)
            let late = skew.isTooLarge ? "\(skew.description): let both follow the same time server" : nil
            return Answer(reasons: [late, stuck?.description].compactMap(\.self), skew: skew, snapshotAge: snapshotAge)
        } catch {
            return Answer(reasons: ["\(error)"], skew: nil)
        }
    }
}
