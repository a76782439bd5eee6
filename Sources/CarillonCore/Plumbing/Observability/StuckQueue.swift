/// Work that has been due for long and that nobody can take, since claims fail.
package struct StuckQueue: Sendable, Equatable {
    /// A claim that fails.
    package struct Failure: Sendable, Equatable {
        package let step: QueueStep
        /// Why, as the database says it.
        package let reason: String
    }

    /// How long the oldest of it has been due.
    package let waited: Duration
    package let failures: [Failure]

    /// What is wrong, in plain words, for whoever runs the service.
    package var description: String {
        let failures = failures.map { "\($0.step.words) fails: \($0.reason)" }
        return "work has been due for \(waited.components.seconds) s, and " + failures.joined(separator: ", and ")
    }
}

extension QueueWatch {
    /// Looks whether work is stuck, due for more than a minute; how long that is, is asked only while claims fail.
    ///
    /// - Returns: What is stuck; `nil` when nothing is.
    package func stuckQueue(oldestWait: () async throws -> Duration) async throws -> StuckQueue? {
        let failures = failures(among: QueueStep.claims)
        guard !failures.isEmpty else { return nil }
        let waited = try await oldestWait()
        return waited > .seconds(60) ? StuckQueue(waited: waited, failures: failures) : nil
    }
}
