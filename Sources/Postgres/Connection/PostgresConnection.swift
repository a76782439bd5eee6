/// One connection and its thread; all that touches the connection runs there.
///
/// It is opened once. A connection that broke is closed and replaced, never mended.
actor PostgresConnection {
    enum Outcome<Value: Sendable>: Sendable {
        /// The connection was found broken before anything was sent; another one can do the work.
        case unused
        /// The work ran.
        case finished(Result<Value, any Error>, isReusable: Bool)
    }

    /// How long a system without threads is left alone.
    private static let threadPause = Duration.milliseconds(100)

    nonisolated let canceller = StatementCanceller()
    nonisolated let thread = ConnectionThread()
    private let configuration: PostgresConfiguration
    private(set) var executor: StatementExecutor?

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(configuration: PostgresConfiguration) {
        self.configuration = configuration
    }

    /// Starts the thread, which waits, connects, and tells how that went: `completion` is called on it, at most once.
    nonisolated func open(
        after delay: Duration,
        completion: @escaping @Sendable (Result<Void, PostgresError>) -> Void
    ) {
        guard thread.start() else {
            // Whoever hears of it at once tries again at once.
            Task {
                try? await Task.sleep(for: max(delay, Self.threadPause))
                completion(.failure(PostgresError(.connectionFailed, reason: "the system has no thread left")))
            }
            return
        }
        thread.submit {
            guard self.thread.pause(for: delay) else { return completion(.failure(PostgresError(.shuttingDown))) }
            completion(
                self.assumeIsolated { connection in Result { () throws(PostgresError) in try connection.connect() } }
            )
        }
    }

    /// Closes the connection and ends the thread, once what runs has finished.
    nonisolated func close() {
        thread.submit { self.assumeIsolated { $0.executor = nil } }
        thread.stop()
    }

    /// Runs a caller's work, who has to be answered by the deadline.
    func run<Value: Sendable>(
        until deadline: ContinuousClock.Instant?,
        _ work: @Sendable (StatementExecutor) throws -> Value
    ) -> Outcome<Value> {
        guard let executor, executor.beginLease(until: deadline) else { return .unused }
        let result = Result { try work(executor) }
        if case .failure = result, executor.isBroken, !executor.hasSentWork { return .unused }
        return .finished(result, isReusable: executor.endLease())
    }

    private func connect() throws(PostgresError) {
        executor = StatementExecutor(
            handle: try Self.openHandle(configuration),
            configuration: configuration,
            canceller: canceller
        )
    }

    /// Connects once more, without settings of the session, where a pooler takes none: its role has them then, or nobody
    /// (``SessionSettings``). It is asked anew each time, since another host of the string may take them. Settings that the string itself
    /// gives are not left out: a `search_path` says which tables are meant.
    private static func openHandle(_ configuration: PostgresConfiguration) throws(PostgresError) -> ConnectionHandle {
        do throws(PostgresError) {
            return try openSuitedHandle(configuration) { $0.sessionInfo }
        } catch {
            guard error.refusal == .noSettings, !configuration.connectionInfo.hasOptions else { throw error }
            return try openSuitedHandle(configuration) { $0.infoWithoutSettings }
        }
    }

    /// Connects, and once more where the server turns out to be one that sessions need other settings for.
    private static func openSuitedHandle(
        _ configuration: PostgresConfiguration,
        _ info: (PostgresConfiguration) -> ConnectionInfo
    ) throws(PostgresError) -> ConnectionHandle {
        let handle = try ConnectionHandle.open(info(configuration))
        guard let distributed = configuration.distributedSettings, distributed.areInForce == nil else { return handle }
        let isDistributed = try handle.isDistributed()
        distributed.note(isDistributed)
        if isDistributed { return try ConnectionHandle.open(info(configuration)) }
        return handle
    }
}
