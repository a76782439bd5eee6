import CarillonCore
import Synchronization

/// What is known of one placement's database: whether it can be used, and if not, why.
final class DatabaseState: Sendable {
    private struct State {
        var schemaProblem: String? = "the database has not been reached yet"
        var masterKeyProblem: String? = "the master key has not been compared with the database's yet"
        var stuckQueue: StuckQueue?
        var lastLook: String?
    }

    private let state = Mutex(State())

    init() {}

    /// Why nothing can be done, in plain words; `nil` when that much is right.
    var problem: String? { state.withLock { $0.schemaProblem ?? $0.masterKeyProblem } }

    /// Whether the database is there with the tables it should have.
    var hasDatabase: Bool { state.withLock { $0.schemaProblem == nil } }

    /// What was due for long and could not be claimed when somebody looked last.
    var stuckQueue: StuckQueue? { state.withLock { $0.stuckQueue } }

    /// Why it was found that nothing can be done, as far as that is known without asking; `nil` when all was well.
    var lastProblem: String? { state.withLock { $0.schemaProblem ?? $0.masterKeyProblem ?? $0.lastLook } }

    /// What somebody found who looked.
    func looked(problem: String?) {
        state.withLock { $0.lastLook = problem }
    }

    /// Whether the database can be used, and if not, why.
    func schema(problem: String?) {
        state.withLock { $0.schemaProblem = problem }
    }

    /// Whether the master key is the database's, and if not, what to do.
    func masterKey(problem: String?) {
        state.withLock { $0.masterKeyProblem = problem }
    }

    /// Whether something is due that cannot be claimed.
    func queue(stuck: StuckQueue?) {
        state.withLock { $0.stuckQueue = stuck }
    }
}
