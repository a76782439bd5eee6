import Logging
import ServiceLifecycle

/// As the first service of a group the server outlives all that use it.
extension EmbeddedCluster: Service {
    /// Starts the server unless it runs, keeps it running, and stops it at graceful shutdown or cancellation.
    ///
    /// - Throws: What ``start()`` throws at the first start. Later failures are logged and tried again.
    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                do {
                    _ = try await self.start()
                    try await self.keepRunning()
                } catch {
                    // Whatever a start was cut off in says so in its own words.
                    try Task.checkCancellation()
                    throw error
                }
            }
        } catch is CancellationError {
            await stop()
        } catch {
            await stop()
            throw error
        }
    }

    private func keepRunning() async throws {
        var failures = 0
        while true {
            try await rest()
            trimLog()
            do {
                if try isRunning {
                    failures = 0
                    continue
                }
                logger.warning("PostgreSQL is gone, starting it again", metadata: ["attempt": "\(failures + 1)"])
                _ = try await start()
            } catch {
                try Task.checkCancellation()
                failures += 1
                logger.error("Cannot start PostgreSQL", metadata: ["error": "\(error)"])
                // From 0.1 to 5 s.
                let limit = Duration.milliseconds(100) * (1 << min(failures, 6))
                try await Task.sleep(for: min(.seconds(5), limit) * Double.random(in: 0.5..<1))
            }
        }
    }
}
