import ServiceLifecycle

/// Has work of memory done by somebody who sleeps until there is any, so that nobody looks for it while there is none.
struct Wakeups: Sendable {
    private let calls: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (calls, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// There is something to do; several calls in a row are one. It is called after that can be seen.
    func call() { continuation.yield() }

    /// Does `work` a while after each call, and again and again for as long as something is left, until graceful shutdown or
    /// cancellation. There is one who does it, once.
    ///
    /// - Parameters:
    ///   - interval: The time from a call to the work, in which more may gather, and from the end of one to the beginning of the next.
    ///   - jitter: The part of the interval, 0 to 1, by which it varies at random, so that replicas do not march in step.
    ///   - work: What is done; it deals with its own errors, and answers whether something is left to do.
    func repeating(
        every interval: Duration,
        jitter: Double = 0,
        _ work: @Sendable @escaping () async -> Bool
    ) async {
        await cancelWhenGracefulShutdown {
            for await _ in calls {
                var isLeft = true
                while isLeft {
                    guard (try? await Task.sleep(for: interval.varied(by: jitter))) != nil else { return }
                    isLeft = await work()
                }
            }
        }
    }
}
