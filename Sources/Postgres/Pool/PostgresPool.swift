public import Logging
public import ServiceLifecycle

/// A bounded set of connections, opened when they are needed and replaced when they break.
///
/// A caller gets a connection for as long as a closure runs:
///
/// ```swift
/// let names = try await pool.withConnection { session in
///     try session.query("SELECT name FROM channels WHERE network_id = \(network)") { row in
///         try row.decode(0, as: String.self)
///     }
/// }
/// ```
///
/// The closure is synchronous and runs on the connection's own thread. When the calling task is cancelled, the statement
/// that runs is interrupted. ``run()`` keeps the pool until shutdown; no connection is opened before the first use.
public final class PostgresPool: Service, Sendable {
    let configuration: PostgresConfiguration
    private let logger: Logger
    private let registry: PoolRegistry

    /// Makes a pool; it connects at the first use. `logger` is told about connections that fail or break, never about
    /// statements or values.
    public init(configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        registry = PoolRegistry(configuration: configuration, logger: logger)
    }

    deinit {
        registry.shutDown()
    }

    /// Lends a connection to `body`, outside a transaction.
    ///
    /// - Throws: What `body` throws; `timedOut`, `deadlineExceeded`, `connectionFailed`, `poolExhausted`, `shuttingDown` or
    ///   `cancelled` when there is no connection for it.
    @discardableResult
    // Specialized for a type of this module, it lets the optimiser of Swift 6.3 crash.
    @_semantics("optimize.sil.specialize.generic.never")
    public func withConnection<Value: Sendable>(
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        try await withLease { executor in try body(PostgresSession(executor: executor)) }
    }

    /// Lends a connection to `body` inside a transaction, which is committed when `body` returns and rolled back when it
    /// throws. For each retry `body` runs once more.
    ///
    /// - Throws: As ``withConnection(_:)``, and what COMMIT fails with. ``PostgresError/isOutcomeUnknown`` tells whether the
    ///   transaction may have taken effect all the same; such a one is never run again.
    @discardableResult
    // Specialized for a type of this module, it lets the optimiser of Swift 6.3 crash.
    @_semantics("optimize.sil.specialize.generic.never")
    public func withTransaction<Value: Sendable>(
        _ options: TransactionOptions = TransactionOptions(),
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        let backoff = Backoff(base: .milliseconds(5), limit: .milliseconds(200))
        var failures = 0
        while true {
            do {
                return try await withLease { executor in try executor.transaction(options, body) }
            } catch let error as PostgresError where error.isRetriable && failures < options.retries {
                failures += 1
                let delay = backoff.delay(afterFailures: failures, jitter: .random(in: 0..<1))
                guard (try? await Task.sleep(for: delay)) != nil else { throw PostgresError(.cancelled) }
            }
        }
    }

    /// Lends a connection that is free, with its thread, for as long as a task works.
    ///
    /// - Returns: The connection; `nil` where none is open that nobody uses, or half of the pool is lent already.
    public func lend() -> LentConnection? {
        registry.lend().map { LentConnection($0, of: registry) }
    }

    /// Keeps the pool until graceful shutdown or cancellation, then turns new callers away, lets those at work finish,
    /// and closes the connections.
    public func run() async throws {
        try? await gracefulShutdown()
        logger.debug("Closing the PostgreSQL pool")
        await registry.shutDownAndWait()
    }

    /// What the pool is doing now.
    public var statistics: PoolStatistics { registry.statistics }

    private func withLease<Value: Sendable>(
        _ work: @Sendable (StatementExecutor) throws -> Value
    ) async throws -> Value {
        let deadline = configuration.deadline?()
        if let lent = LentConnection.current, lent.isUsable(in: registry) {
            configuration.onWait?(.zero)
            if let result = await lent.run(until: deadline, work) { return try result.get() }
        }
        let longestWait = ContinuousClock.now + configuration.acquireTimeout
        while true {
            let lease = try await acquire(until: deadline.map { min($0, longestWait) } ?? longestWait)
            switch await lease.run(until: deadline, work) {
            case .unused:
                logger.debug("Replacing a broken PostgreSQL connection", metadata: lease.metadata)
                registry.release(lease, isReusable: false)
            case .finished(let result, let isReusable):
                registry.release(lease, isReusable: isReusable)
                return try result.get()
            }
        }
    }

    private func acquire(until deadline: ContinuousClock.Instant) async throws -> PoolLease {
        let start = ContinuousClock.now
        defer { configuration.onWait?(ContinuousClock.now - start) }
        let waiter = registry.request(first: configuration.hasPrecedence?() ?? false)
        if let lease = try registry.takeLease(of: waiter) { return lease }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [registry] in
                try await Task.sleep(until: deadline)
                registry.withdraw(waiter, because: .timedOut)
            }
            defer { group.cancelAll() }
            return try await withTaskCancellationHandler {
                try await registry.lease(of: waiter)
            } onCancel: { [registry] in
                registry.withdraw(waiter, because: .cancelled)
            }
        }
    }

    /// Makes a pool for as long as `body` runs, for programs that are no service, and closes all its connections then.
    public static func withPool<Value>(
        configuration: PostgresConfiguration,
        logger: Logger,
        _ body: (PostgresPool) async throws -> Value
    ) async rethrows -> Value {
        let pool = PostgresPool(configuration: configuration, logger: logger)
        do {
            let value = try await body(pool)
            await pool.registry.shutDownAndWait()
            return value
        } catch {
            await pool.registry.shutDownAndWait()
            throw error
        }
    }
}
