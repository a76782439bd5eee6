import Logging

struct PoolLease: Sendable {
    let id: PoolStateMachine.ConnectionID
    let connection: PostgresConnection

    var metadata: Logger.Metadata { ["postgres.connection": "\(id)"] }

    /// Runs the work of the caller's task, whose cancellation interrupts it.
    func run<Value: Sendable>(
        until deadline: ContinuousClock.Instant?,
        _ work: @Sendable (StatementExecutor) throws -> Value
    ) async -> PostgresConnection.Outcome<Value> {
        // Cleared before the handler is in place: a task that is cancelled by then calls it at once.
        connection.canceller.reset()
        return await withTaskCancellationHandler {
            await connection.run(until: deadline, work)
        } onCancel: {
            connection.canceller.cancel()
        }
    }
}

/// Performs what the pool's state machine decides.
///
/// Decisions are made under one lock; connections are opened and closed, and callers resumed, after it is released.
final class PoolRegistry: Sendable {
    private typealias Machine = PoolStateMachine

    /// A caller, from its request until it has taken the answer.
    private enum Waiter {
        case announced
        case suspended(CheckedContinuation<PoolLease, any Error>)
        case answered(Result<PoolLease, PostgresError>)
    }

    private enum Effect {
        case open(PoolLease, after: Duration)
        case close(PostgresConnection)
        case resume(CheckedContinuation<PoolLease, any Error>, Result<PoolLease, PostgresError>)
        case finish([CheckedContinuation<Void, Never>])
    }

    private struct State {
        var machine: Machine
        var connections: [Machine.ConnectionID: PostgresConnection] = [:]
        var waiters: [Machine.WaiterID: Waiter] = [:]
        var lastWaiterID = 0
        var lastFailure: PostgresError?
        var isFinished = false
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let configuration: PostgresConfiguration
    private let logger: Logger
    // Not `Mutex`: when that is contended on Linux the kernel hands it over, which the thread sanitizer cannot see.
    private let state: Monitor<State>

    init(configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        state = Monitor(
            State(machine: Machine(limit: configuration.poolSize, waiterLimit: configuration.maxWaiters))
        )
    }

    var statistics: PoolStatistics { state.withLock(\.machine.statistics) }

    /// Asks for a connection, `first` before those who wait without precedence; the answer is taken with ``takeLease(of:)`` or
    /// awaited with ``lease(of:)``.
    func request(first: Bool) -> Int {
        var waiter = 0
        handle { state in
            state.lastWaiterID += 1
            waiter = state.lastWaiterID
            state.waiters[waiter] = .announced
            return state.machine.request(waiter, first: first)
        }
        return waiter
    }

    /// A connection that nobody uses, if one is to spare.
    func lend() -> PoolLease? {
        state.withLock { state in
            guard let id = state.machine.lend() else { return nil }
            return state.connections[id].map { PoolLease(id: id, connection: $0) }
        }
    }

    /// The answer, if it is there already.
    func takeLease(of waiter: Int) throws(PostgresError) -> PoolLease? {
        let answer = state.withLock { state -> Result<PoolLease, PostgresError>? in
            guard case .answered(let answer) = state.waiters[waiter] else { return nil }
            state.waiters[waiter] = nil
            return answer
        }
        return try answer?.get()
    }

    func lease(of waiter: Int) async throws -> PoolLease {
        try await withCheckedThrowingContinuation { continuation in
            let answer = state.withLock { state -> Result<PoolLease, PostgresError>? in
                guard case .answered(let answer) = state.waiters[waiter] else {
                    state.waiters[waiter] = .suspended(continuation)
                    return nil
                }
                state.waiters[waiter] = nil
                return answer
            }
            if let answer { continuation.resume(with: answer) }
        }
    }

    func withdraw(_ waiter: Int, because failure: PoolStateMachine.Failure) {
        handle { $0.machine.withdraw(waiter, because: failure) }
    }

    func release(_ lease: PoolLease, isReusable: Bool) {
        handle { $0.machine.release(lease.id, isReusable: isReusable) }
    }

    func shutDown() {
        handle { $0.machine.shutDown() }
    }

    /// Shuts down and waits until the last connection has come back.
    func shutDownAndWait() async {
        shutDown()
        await withCheckedContinuation { continuation in
            let isFinished = state.withLock { state in
                if !state.isFinished { state.closers.append(continuation) }
                return state.isFinished
            }
            if isFinished { continuation.resume() }
        }
    }

    private func opened(_ id: Int, _ result: Result<Void, PostgresError>) {
        switch result {
        case .success:
            logger.debug("Opened a PostgreSQL connection", metadata: ["postgres.connection": "\(id)"])
            handle { $0.machine.opened(id) }
        case .failure(let error):
            if error.kind != .shuttingDown {
                logger.warning("Cannot connect to PostgreSQL", metadata: ["error": "\(error)"])
            }
            handle { state in
                state.lastFailure = error
                return error.refusal == nil ? state.machine.failedToOpen(id) : state.machine.wasRefused(id)
            }
        }
    }

    private func handle(_ event: (inout State) -> [Machine.Action]) {
        let effects = state.withLock { state in
            let actions = event(&state)
            return actions.compactMap { effect(of: $0, in: &state) }
        }
        for effect in effects { perform(effect) }
    }

    private func effect(of action: Machine.Action, in state: inout State) -> Effect? {
        switch action {
        case .open(let id, let failures):
            let connection = PostgresConnection(configuration: configuration)
            state.connections[id] = connection
            let delay = configuration.backoff.delay(afterFailures: failures, jitter: .random(in: 0..<1))
            return .open(PoolLease(id: id, connection: connection), after: delay)
        case .close(let id):
            return state.connections.removeValue(forKey: id).map(Effect.close)
        case .lease(let id, let waiter):
            guard let connection = state.connections[id] else { return nil }
            return answer(waiter, .success(PoolLease(id: id, connection: connection)), in: &state)
        case .fail(let waiter, let failure):
            return answer(waiter, .failure(error(for: failure, in: state)), in: &state)
        case .finish:
            state.isFinished = true
            defer { state.closers.removeAll() }
            return .finish(state.closers)
        }
    }

    private func answer(
        _ waiter: Int,
        _ answer: Result<PoolLease, PostgresError>,
        in state: inout State
    ) -> Effect? {
        if case .suspended(let continuation) = state.waiters[waiter] {
            state.waiters[waiter] = nil
            return .resume(continuation, answer)
        }
        state.waiters[waiter] = .answered(answer)
        return nil
    }

    private func error(for failure: Machine.Failure, in state: State) -> PostgresError {
        switch failure {
        case .exhausted: PostgresError(.poolExhausted)
        case .cancelled: PostgresError(.cancelled)
        case .shuttingDown: PostgresError(.shuttingDown)
        case .refused: state.lastFailure ?? PostgresError(.connectionFailed)
        // That the server is away says more than that time is up.
        case .timedOut:
            state.machine.isFailing ? state.lastFailure ?? PostgresError(.timedOut) : PostgresError(.timedOut)
        }
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .open(let lease, let delay):
            lease.connection.open(after: delay) { result in self.opened(lease.id, result) }
        case .close(let connection):
            connection.close()
        case .resume(let continuation, let answer):
            continuation.resume(with: answer)
        case .finish(let closers):
            for closer in closers { closer.resume() }
        }
    }
}
