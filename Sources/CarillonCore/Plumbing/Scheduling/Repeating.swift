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
        while (try? await Task.sleep(for: interval().varied(by: jitter))) != nil { await work() }
    }
}

/// Does `work` at once, and again after as long as it says each time, until graceful shutdown, cancellation or `nil`.
///
/// - Parameters:
///   - state: What the work has to know of the last time.
///   - jitter: The part of the time, 0 to 1, by which it varies at random, so that replicas do not march in step.
///   - work: What is done.
/// - Throws: What `work` throws, which ends it.
package func repeating<State: Sendable>(
    with state: State,
    jitter: Double = 0,
    _ work: @Sendable @escaping (inout State) async throws -> Duration?
) async throws {
    try await cancelWhenGracefulShutdown {
        var state = state
        while !Task.isCancelled, let rest = try await work(&state) {
            try? await Task.sleep(for: rest.varied(by: jitter))
        }
    }
}

/// Does `work` again and again until cancellation, through a graceful shutdown.
package func untilCancelled(every interval: Duration, _ work: @Sendable @escaping () async -> Void) async {
    while (try? await Task.sleep(for: interval)) != nil { await work() }
}

/// Waits until something is the case that nobody tells of, for as long as `limit`; answers whether it is.
package func waits(atMost limit: Duration = .seconds(Int32.max), until condition: () -> Bool) async -> Bool {
    let start = ContinuousClock.now
    while !condition() {
        guard ContinuousClock.now - start < limit, !Task.isCancelled else { return false }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return true
}

extension Duration {
    /// Give or take a part of it, 0 to 1, at random.
    func varied(by jitter: Double) -> Duration { jitter == 0 ? self : self * (1 + .random(in: -jitter...jitter)) }
}
