package import Logging
import ServiceLifecycle

/// Goes on with what endpoints are told once more, a little at a time.
package final class Replayer: Service {
    private static let interval = Duration.milliseconds(500)

    private let history: any RelayHistory
    private let logger: Logger

    /// A replayer of what is ordered in `history`.
    package init(history: any RelayHistory, logger: Logger) {
        self.history = history
        self.logger = logger
    }

    /// Works until graceful shutdown or cancellation.
    package func run() async throws {
        await repeating(every: Self.interval, jitter: 0.2) {
            do {
                while try await self.history.continueReplays(), !Task.isCancelled {}
            } catch {
                self.logger.debug("Could not go on with replays", metadata: ["error": "\(error)"])
            }
        }
    }
}
