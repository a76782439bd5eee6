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
    let pool: PostgresPool
    let clock: DatabaseClock
    let watch: QueueWatch
    let oldestWait: @Sendable () async throws -> Duration
    /// Whether to read a table, too: where it is read by somebody else than who tells the time.
    var readsTable = false

    func look() async -> Answer {
        if let problem = state.problem { return Answer(reasons: [problem], skew: nil) }
        do {
            let skew = try await clock.look(pool)
            if readsTable { _ = try await PlacementIdentity.id(pool) }
            let stuck = try await watch.stuckQueue(oldestWait: oldestWait)
            state.note { $0.stuckQueue = stuck }
            let snapshotAge = try await OldestSnapshot.age(pool)
            let late = skew.isTooLarge ? "\(skew.description): let both follow the same time server" : nil
            return Answer(reasons: [late, stuck?.description].compactMap(\.self), skew: skew, snapshotAge: snapshotAge)
        } catch {
            return Answer(reasons: ["\(error)"], skew: nil)
        }
    }
}
