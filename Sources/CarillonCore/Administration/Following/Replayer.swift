import ServiceLifecycle

/// Goes on with what endpoints are told once more, a little at a time.
package final class Replayer: Service {
    private static let pace = PollPace(interval: .milliseconds(500), jitter: 0.2)

    private let queue: any ReplayQueue
    private let watch: QueueWatch

    /// A replayer of what is ordered in `queue`; `watch` is told how that goes.
    package init(queue: any ReplayQueue, watch: QueueWatch) {
        self.queue = queue
        self.watch = watch
    }

    /// Works until graceful shutdown or cancellation.
    package func run() async throws {
        await watch.activity.repeating(Self.pace) {
            await self.watch.attempt(.replays) {
                while try await self.queue.continueReplays(), !Task.isCancelled {}
            }
        }
    }
}
