#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The thread of one connection, as an executor for the actor that owns the connection, and for tasks that are its guests.
///
/// libpq may block on it as long as it likes. Jobs run one at a time, in the order they came; after ``stop()`` those that
/// are queued still run, and those of guests, then the thread ends. Nothing may be enqueued after that.
final class ConnectionThread: SerialExecutor, TaskExecutor {
    private enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct State {
        var queue: [Work] = []
        var isStopping = false
        /// How many tasks may still have jobs for it.
        var guests = 0
        var identity: pthread_t?
    }

    private let monitor = Monitor(State())

    /// Starts the thread; answers whether the system had one left.
    func start() -> Bool {
        PosixThread.start { self.loop() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        monitor.withLock { $0.queue.append(.job(job)) }
    }

    /// Runs a closure on the thread, in turn with the actor's jobs.
    func submit(_ closure: @escaping @Sendable () -> Void) {
        monitor.withLock { $0.queue.append(.closure(closure)) }
    }

    /// Whether the caller runs on it.
    var isCurrent: Bool { monitor.withLock(\.identity) == pthread_self() }

    /// Keeps the thread for a task's jobs until the task ``leave()``s.
    func enter() {
        monitor.withLock { $0.guests += 1 }
    }

    /// A guest has no further jobs.
    func leave() {
        monitor.withLock { $0.guests -= 1 }
    }

    /// Lets the thread end once its queue is empty and its guests have left.
    func stop() {
        monitor.withLock { $0.isStopping = true }
    }

    /// Blocks the thread for a while, less when it is to stop; answers whether the time has passed in full.
    func pause(for duration: Duration) -> Bool {
        monitor.wait(atMost: duration) { $0.isStopping ? true : nil } == nil
    }

    func checkIsolated() {
        precondition(isCurrent, "not on the connection's thread")
    }

    private func loop() {
        monitor.withLock { $0.identity = pthread_self() }
        while let batch = nextBatch() {
            for work in batch {
                switch work {
                case .job(let job):
                    job.runSynchronously(
                        isolatedTo: asUnownedSerialExecutor(),
                        taskExecutor: asUnownedTaskExecutor()
                    )
                case .closure(let closure): closure()
                }
            }
        }
    }

    private func nextBatch() -> [Work]? {
        monitor.wait { state -> [Work]?? in
            if !state.queue.isEmpty {
                defer { state.queue.removeAll() }
                return .some(state.queue)
            }
            return state.isStopping && state.guests == 0 ? .some(nil) : nil
        }
    }
}
