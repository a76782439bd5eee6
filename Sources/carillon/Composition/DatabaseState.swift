import CarillonCore
import Synchronization

/// What is known of one placement's database: whether it can be used, and if not, why.
final class DatabaseState: Sendable {
    /// Problems are told in plain words, and are `nil` where all is well.
    struct Known {
        /// Why the database, or what it should have, is not there.
        var schemaProblem: String? = "the database has not been reached yet"
        /// Why the master key is not the database's.
        var masterKeyProblem: String? = "the master key has not been compared with the database's yet"
        /// What was due for long and could not be claimed when somebody looked last.
        var stuckQueue: StuckQueue?
        /// What somebody found who looked.
        var lastLook: String?

        /// Why nothing can be done.
        var problem: String? { schemaProblem ?? masterKeyProblem }
    }

    private let known = Mutex(Known())

    /// Why nothing can be done; `nil` when that much is right.
    var problem: String? { known.withLock(\.problem) }

    /// Whether the database is there with the tables it should have.
    var hasDatabase: Bool { known.withLock { $0.schemaProblem == nil } }

    var stuckQueue: StuckQueue? { known.withLock(\.stuckQueue) }

    /// Why it was found that nothing can be done, as far as that is known without asking; `nil` when all was well.
    var lastProblem: String? { known.withLock { $0.problem ?? $0.lastLook } }

    func note(_ change: (inout Known) -> Void) { known.withLock { change(&$0) } }
}
