import CarillonCore
package import Postgres

extension PostgresError: TransientError {
    /// Whether trying again later can help: the server is away or busy, or something else came in between.
    package var isTransient: Bool {
        switch kind {
        case _ where isOutcomeUnknown: true
        case .shuttingDown, .cancelled: true
        // A row was on its way into a default partition while the partition that it belongs into was made.
        case .server(.checkViolation): isOfDefaultPartition
        default: isConnectivity || isRetriable
        }
    }

    /// Whether the server has trouble with its files or with itself, or the role may not do what it has to. That is not transient: tried
    /// again and again, a single row that cannot be read would hold up everybody else's.
    package var awaitsRepair: Bool {
        guard case .server(let state) = kind else { return false }
        return ["58", "XX"].contains(state.errorClass) || state == .insufficientPrivilege
    }

    /// Whether a network was to be changed that is on its way to another placement (migration 0063).
    package var isOfMovingNetwork: Bool { constraint == "move_fence" }

    /// Where statements are handed on, a table has a number behind its name.
    private var isOfDefaultPartition: Bool {
        guard let words = table?.split(separator: "_"), let last = words.last else { return false }
        return last == "default" || last.allSatisfy(\.isNumber) && words.dropLast().last == "default"
    }

    /// Whether a row was held by somebody else for longer than may be waited, or in turn.
    package var isContention: Bool {
        switch kind {
        case .server(.lockNotAvailable), .server(.deadlockDetected): true
        default: false
        }
    }
}
