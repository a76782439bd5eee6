package import Logging
import ServiceLifecycle

/// Writes what was counted: each minute of a network once, soon after it is over, and all that is left when the service stops.
package final class StatisticsWriter: Service {
    private static let interval = Duration.seconds(5)
    private static let batchSize = 1000

    private let recorder: StatisticsRecorder
    private let log: any StatisticsLog
    private let owns: @Sendable (NetworkID) -> Bool
    private let logger: Logger

    /// A writer of what `recorder` counts in the networks that the log `owns`.
    package init(
        recorder: StatisticsRecorder,
        log: some StatisticsLog,
        owns: @escaping @Sendable (NetworkID) -> Bool = { _ in true },
        logger: Logger
    ) {
        self.recorder = recorder
        self.log = log
        self.owns = owns
        self.logger = logger
    }

    /// Works until graceful shutdown or cancellation. By then those who count have ended.
    package func run() async throws {
        await repeating(every: Self.interval, jitter: 0.2) { await self.write(includingThisMinute: false) }
        await write(includingThisMinute: true)
    }

    /// Writes what is to be written; what cannot be written now is kept.
    package func write(includingThisMinute: Bool) async {
        do {
            while true {
                let rows = recorder.rowsToWrite(
                    includingThisMinute: includingThisMinute,
                    limit: Self.batchSize,
                    of: owns
                )
                guard !rows.isEmpty else { break }
                try await log.write(rows)
                recorder.forget(rows)
            }
        } catch {
            logger.debug("Could not write statistics", metadata: ["error": "\(error)"])
        }
        let lost = recorder.takeLost()
        guard lost > 0 else { return }
        logger.warning("Statistics were given up that could not be written", metadata: ["minutes": "\(lost)"])
    }
}
