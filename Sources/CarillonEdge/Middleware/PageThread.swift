import Foundation
import Synchronization

/// A thread for those who read pages, beside those of all other tasks: a thousand rows take a while to write as JSON, and each step of
/// everybody else's requests would wait behind it. It gives way to the others where there are not enough processors.
final class PageThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    init() {
        let thread = Thread { [self] in
            // On Linux niceness is a thread's own.
            #if os(Linux)
                _ = nice(10)
            #endif
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
