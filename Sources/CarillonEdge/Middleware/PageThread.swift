import Dispatch

/// A thread for those who read pages, beside those of all other tasks: a thousand rows take a while to write as JSON, and each step of
/// everybody else's requests would wait behind it.
final class PageThread: TaskExecutor {
    private let queue = DispatchQueue(label: "pages")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}
