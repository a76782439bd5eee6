/// Interrupts the statement of one connection when the caller's task is cancelled, or its time is up.
///
/// The request travels on a connection of its own and can arrive late. A statement therefore counts as ended only when no
/// request is on its way any more; otherwise it would hit the next statement, or the next caller's.
final class StatementCanceller: Sendable {
    private struct State {
        var handle: CancelHandle?
        var isRunning = false
        var isCancelled = false
        var isSending = false
    }

    private let monitor = Monitor(State())

    /// Names the connection to interrupt.
    func attach(_ handle: CancelHandle?) {
        monitor.withLock { $0.handle = handle }
    }

    /// Forgets the former caller's cancellation.
    func reset() {
        monitor.withLock { $0.isCancelled = false }
    }

    var isCancelled: Bool { monitor.withLock(\.isCancelled) }

    /// Cancels: interrupts the statement that runs, if any, and refuses further ones until ``reset()``.
    func cancel() {
        interrupt { $0.isCancelled = true }
    }

    /// Interrupts the statement that runs, if any, and nothing else; does not wait for that.
    func interrupt() {
        interrupt { _ in }
    }

    private func interrupt(_ note: (inout State) -> Void) {
        let handle = monitor.withLock { state -> CancelHandle? in
            note(&state)
            guard state.isRunning, !state.isSending, let handle = state.handle else { return nil }
            state.isSending = true
            return handle
        }
        guard let handle else { return }
        // Cancellation handlers must not block, nor may a caller's deadline wait, and this opens a connection.
        let hasStarted = PosixThread.start {
            handle.send()
            self.monitor.withLock { $0.isSending = false }
        }
        if !hasStarted { monitor.withLock { $0.isSending = false } }
    }

    /// Marks the start of a statement that may be interrupted.
    ///
    /// - Throws: `cancelled` when the caller is cancelled already.
    func beginStatement() throws(PostgresError) {
        let mayRun = monitor.withLock { state in
            state.isRunning = !state.isCancelled
            return state.isRunning
        }
        guard mayRun else { throw PostgresError(.cancelled) }
    }

    /// Marks the end of a statement, and blocks while a request to interrupt it is on its way.
    ///
    /// - Returns: Whether the connection may be used on; if not, the request still has not arrived.
    func endStatement(waitingAtMost limit: Duration) -> Bool {
        monitor.withLock { $0.isRunning = false }
        return monitor.wait(atMost: limit) { $0.isSending ? nil : true } ?? false
    }
}
