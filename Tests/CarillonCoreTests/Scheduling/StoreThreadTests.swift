import Dispatch
import Synchronization
import Testing

@testable import CarillonCore

/// Tasks that try on a thread first.
@Suite struct StoreThreadTests {
    private struct Failure: Error {}

    /// Runs tasks on a queue of its own, and knows whether it serves one.
    private final class Thread: StoreThread, TaskExecutor {
        private let queue = DispatchQueue(label: "thread")
        private let serving = Mutex(false)
        private let jobs = Mutex(0)

        var executor: any TaskExecutor { self }
        var isServing: Bool { serving.withLock(\.self) }
        var jobsBegun: Int { jobs.withLock(\.self) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0 += 1 }
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }

        func serve<Result>(_ work: () async throws -> Result) async rethrows -> Result {
            serving.withLock { $0 = true }
            defer { serving.withLock { $0 = false } }
            return try await work()
        }
    }

    @Test func `what is tried on a thread is done there`() async {
        let thread = Thread()
        let done = Mutex<[String]>([])
        await withDiscardingTaskGroup { group in
            group.addTask(on: thread) {
                done.withLock { $0.append(thread.isServing ? "served" : "alone") }
            } otherwise: { _ in
                done.withLock { $0.append("long") }
            }
        }
        #expect(done.withLock(\.self) == ["served"])
        #expect(thread.jobsBegun > 0)
    }

    @Test func `what fails goes on elsewhere, and knows why`() async {
        let thread = Thread()
        let done = Mutex<[String]>([])
        await withDiscardingTaskGroup { group in
            group.addTask(on: thread) {
                throw Failure()
            } otherwise: { failure in
                let before = thread.jobsBegun
                await Task.yield()
                let isElsewhere = thread.jobsBegun == before && !thread.isServing
                done.withLock { $0.append("\(failure is Failure), \(isElsewhere)") }
            }
        }
        #expect(done.withLock(\.self) == ["true, true"])
    }

    @Test func `without a thread it goes the long way at once`() async {
        let done = Mutex<[String]>([])
        await withDiscardingTaskGroup { group in
            group.addTask(on: nil) {
                done.withLock { $0.append("tried") }
            } otherwise: { failure in
                done.withLock { $0.append("long, \(failure == nil)") }
            }
        }
        #expect(done.withLock(\.self) == ["long, true"])
    }
}
