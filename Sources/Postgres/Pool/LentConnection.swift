import Synchronization

/// A connection that one task has while it works: whatever it asks of the pool on the connection's thread is asked there, and no other
/// thread is woken for it.
///
/// ```swift
/// let lent = pool.lend()
/// Task(executorPreference: lent?.executor) {
///     await lent?.serve { try await pool.withConnection { … } }
/// }
/// ```
///
/// Calls from other threads, and those after the connection broke, get connections as all others do.
public final class LentConnection: Sendable {
    private enum State {
        case usable, broken, returned
    }

    @TaskLocal static var current: LentConnection?

    private let lease: PoolLease
    private let registry: PoolRegistry
    private let state = Mutex(State.usable)

    init(_ lease: PoolLease, of registry: PoolRegistry) {
        self.lease = lease
        self.registry = registry
        lease.connection.thread.enter()
    }

    deinit {
        giveBack()
        lease.connection.thread.leave()
    }

    /// The connection's thread. It takes jobs for as long as this is kept.
    public var executor: any TaskExecutor { lease.connection.thread }

    /// Has the connection serve what `work` asks of its pool, then gives it back.
    public func serve<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        defer { giveBack() }
        return try await Self.$current.withValue(self, operation: work)
    }

    /// Whether the caller may use it, who wants a connection of a pool.
    func isUsable(in pool: PoolRegistry) -> Bool {
        registry === pool && lease.connection.thread.isCurrent && state.withLock { $0 == .usable }
    }

    /// Runs a caller's work, who has to be answered by the deadline; `nil` where the connection was found broken before anything was sent.
    func run<Value: Sendable>(
        until deadline: ContinuousClock.Instant?,
        _ work: @Sendable (StatementExecutor) throws -> Value
    ) async -> Result<Value, any Error>? {
        switch await lease.run(until: deadline, work) {
        case .unused:
            state.withLock { $0 = .broken }
            return nil
        case .finished(let result, let isReusable):
            if !isReusable { state.withLock { $0 = .broken } }
            return result
        }
    }

    private func giveBack() {
        let former = state.withLock { state in
            defer { state = .returned }
            return state
        }
        guard former != .returned else { return }
        registry.release(lease, isReusable: former == .usable)
    }
}
