/// A thread on which a task blocks for the answers of the stores, so that none of its calls wakes another.
package protocol StoreThread: Sendable {
    /// Where the task has to run. It takes jobs for as long as this is kept.
    var executor: any TaskExecutor { get }

    /// Has the stores answer on the thread what `work` asks of them; afterwards it is somebody else's.
    func serve<Result>(_ work: () async throws -> Result) async rethrows -> Result
}

/// A store that lends threads.
package protocol StoreThreadSource: Sendable {
    /// A thread for one task; `nil` where none is to spare, so that the task runs wherever it does.
    @Sendable func freeThread() -> (any StoreThread)?
}

extension StoreThreadSource {
    @Sendable package func freeThread() -> (any StoreThread)? { nil }
}

extension DiscardingTaskGroup {
    /// Adds a task that tries `work` on a thread, and otherwise takes as long as it likes.
    ///
    /// - Parameters:
    ///   - thread: A free one; `nil` for none.
    ///   - work: What is tried there: nothing that waits for anything but the stores.
    ///   - long: What is done instead where there is no thread, and after what `work` throws.
    mutating func addTask(
        on thread: (any StoreThread)?,
        trying work: @escaping @Sendable () async throws -> Void,
        otherwise long: @escaping @Sendable (_ failure: (any Error)?) async -> Void
    ) {
        guard let thread else { return addTask { await long(nil) } }
        addTask(executorPreference: thread.executor) {
            do {
                try await thread.serve(work)
            } catch {
                // The thread serves others now.
                await withTaskExecutorPreference(globalConcurrentExecutor) { await long(error) }
            }
        }
    }
}
