import ServiceLifecycle

/// Does `work` again and again until graceful shutdown or cancellation.
///
/// - Parameters:
///   - interval: The time between the end of one and the beginning of the next; asked for each time.
///   - jitter: The part of the interval, 0 to 1, by which it varies at random, so that replicas do not march in step.
///   - work: What is done; it deals with its own errors.
package func repeating(
    every interval: @autoclosure @Sendable @escaping () -> Duration,
    jitter: Double = 0,
    _ work: @Sendable @escaping () async -> Void
) async {
    await cancelWhenGracefulShutdown {
        while !Task.isCancelled {
            let part = jitter == 0 ? 0 : Double.random(in: -jitter...jitter)
            guard (try? await Task.sleep(for: interval() * (1 + part))) != nil else { return }
            await work()
        }
    }
}

/// Does `work` again and again until cancellation, through a graceful shutdown.
package func untilCancelled(every interval: Duration, _ work: @Sendable @escaping () async -> Void) async {
    while (try? await Task.sleep(for: interval)) != nil { await work() }
}
