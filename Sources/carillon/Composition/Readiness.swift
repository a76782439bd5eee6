import CarillonCore
import Synchronization

/// What the service knows of its own state: where it listens, and why it cannot work yet or any more.
final class Readiness: Sendable {
    /// One of the two ports.
    enum Port: Hashable, Sendable {
        case open
        case management
    }

    private struct State {
        var addresses: [Port: ListenAddress] = [:]
        var schemaProblem: String? = "the database has not been reached yet"
        var masterKeyProblem: String? = "the master key has not been compared with the database's yet"
        var stuckQueue: StuckQueue?
        var isShuttingDown = false
    }

    private let state = Mutex(State())

    init() {}

    /// Where a port is open; `nil` before it is.
    subscript(port: Port) -> ListenAddress? { state.withLock { $0.addresses[port] } }

    /// Why nothing can be done, in plain words; `nil` when that much is right.
    var problem: String? {
        state.withLock { $0.isShuttingDown ? "the service is shutting down" : $0.schemaProblem ?? $0.masterKeyProblem }
    }

    /// Whether the database is there with the tables it should have.
    var hasDatabase: Bool { state.withLock { $0.schemaProblem == nil } }

    /// What was due for long and could not be claimed when somebody looked last.
    var stuckQueue: StuckQueue? { state.withLock { $0.stuckQueue } }

    /// A port is open.
    func listens(_ port: Port, at address: ListenAddress) {
        state.withLock { $0.addresses[port] = address }
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

    /// Nothing new is taken on any more.
    func shutsDown() {
        state.withLock { $0.isShuttingDown = true }
    }

    /// Waits until something is the case, for as long as `limit`; answers whether it is.
    func waits(atMost limit: Duration = .seconds(Int32.max), until condition: (Readiness) -> Bool) async -> Bool {
        let start = ContinuousClock.now
        while !condition(self) {
            guard ContinuousClock.now - start < limit, !Task.isCancelled else { return false }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return true
    }
}
