import CarillonCore
package import Logging
import ServiceLifecycle

/// Goes on with moves of networks, whoever began them: one at a time, and none that another replica is at.
package struct MoveRunner: Service {
    /// How often it is looked for what others have begun or left behind.
    private static let interval = Duration.seconds(5)
    /// How often it is looked for fences without a move.
    private static let mendInterval = Duration.seconds(60)

    private let mover: NetworkMover
    private let logger: Logger
    private let wakeups: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    package init(_ mover: NetworkMover, logger: Logger) {
        self.mover = mover
        self.logger = logger
        (wakeups, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// There is something to do.
    package func poke() { wake.yield() }

    /// Works until graceful shutdown; what is under way then is gone on with by another replica, or the next start.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await untilCancelled(every: Self.mendInterval) { try? await mover.mend() } }
                group.addTask { await untilCancelled(every: Self.interval) { wake.yield() } }
                for await _ in wakeups { await work() }
                group.cancelAll()
            }
        }
    }

    private func work() async {
        do {
            while !Task.isCancelled, try await mover.work() {
                try await Task.sleep(for: .milliseconds(50))
            }
        } catch {
            logger.debug("Could not look for moves of networks", metadata: ["error": "\(error)"])
        }
    }
}
