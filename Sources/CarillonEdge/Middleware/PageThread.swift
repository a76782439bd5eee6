import Foundation
import Synchronization

/// A thread for those who read pages, beside those of all other tasks: a thousand rows take a while to write as JSON, and each step of
/// everybody else's requests would wait behind it. It is as nice as the others: on Linux threads that are started from it, workers of the
/// pool that all tasks share among them, would be as nice as it, for good.
final class PageThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    init() {
        let thread = Thread { [self] in
            while true {
                arrivals.wait()
                jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
        thread.qualityOfService = .utility
        thread.start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }
}
