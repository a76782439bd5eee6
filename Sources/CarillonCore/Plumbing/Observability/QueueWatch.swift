package import CoreMetrics
package import Logging
import Metrics
import Synchronization

/// Notes how the steps go that the service takes by itself, and how long they take, so that somebody learns of those that fail: what is due just
/// stays where it is.
package final class QueueWatch: Sendable {
    /// For how long the next failures of a step are counted instead of being written.
    private static let silence = Duration.seconds(60)

    private struct Failure {
        var reason: String
        /// Whether the log has a line about it.
        var isTold: Bool
    }

    private let failures: Counters<QueueStep>
    private let steps: [QueueStep: (duration: Recorder, allowance: LineAllowance)]
    private let logger: Logger
    /// Whether anything happens where these steps are taken.
    package let activity: Activity
    private let failing = Mutex<[QueueStep: Failure]>([:])

    package init(
        factory: any MetricsFactory,
        logger: Logger,
        activity: Activity = Activity(),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        failures = Counters("carillon_queue_failures_total", by: "step", factory: factory)
        steps = Dictionary(
            uniqueKeysWithValues: QueueStep.allCases.map { step in
                let labels = [("step", step.rawValue)]
                let duration = Recorder(label: "carillon_queue_step_seconds", dimensions: labels, factory: factory)
                let allowance = LineAllowance(lines: 1, within: Self.silence, now: now)
                return (step, (duration: duration, allowance: allowance))
            }
        )
        self.logger = logger
        self.activity = activity
    }

    /// Takes a step; `nil` when it failed, which is noted.
    @discardableResult
    package func attempt<Value>(_ step: QueueStep, _ body: () async throws -> Value) async -> Value? {
        let start = ContinuousClock.now
        defer { steps[step]?.duration.record((ContinuousClock.now - start) / .seconds(1)) }
        do {
            let value = try await Activity.$isRoutine.withValue(step.isRoutine, operation: body)
            succeeded(step)
            return value
        } catch {
            // Who is told to stop in the middle has not failed.
            if !Task.isCancelled { failed(step, because: error) }
            return nil
        }
    }

    /// Those of some steps that failed when they were taken last.
    package func failures(among steps: [QueueStep]) -> [StuckQueue.Failure] {
        let failing = failing.withLock { $0 }
        return steps.compactMap { step in failing[step].map { StuckQueue.Failure(step: step, reason: $0.reason) } }
    }

    private func succeeded(_ step: QueueStep) {
        guard failing.withLock({ $0.removeValue(forKey: step) })?.isTold == true else { return }
        logger.notice("What is due can be worked on again", metadata: ["step": "\(step.words)"])
    }

    private func failed(_ step: QueueStep, because error: any Error) {
        let reason = "\(error)"
        failures.count(step)
        guard let allowance = steps[step]?.allowance else { return }
        let isTold = allowance.take() == .write
        failing.withLock { $0[step] = Failure(reason: reason, isTold: isTold || $0[step]?.isTold == true) }
        guard isTold else { return }
        logger.error(
            "What is due cannot be worked on",
            metadata: [
                "step": "\(step.words)", "error": "\(reason)", "failures": "\(allowance.takeOmitted() + 1)",
            ]
        )
    }
}
