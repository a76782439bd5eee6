/// What could not be tidied up, by what it is and why.
package struct UntidyError: Error, Sendable, CustomStringConvertible {
    package struct Failure: Sendable {
        /// What was to be tidied up, for example a table.
        package let task: String
        /// What the database said.
        package let reason: String
    }

    /// In the order in which they were tried.
    package let failures: [Failure]

    /// Each reason once, behind all that failed for it.
    package var description: String {
        var reasons: [String] = []
        for failure in failures where !reasons.contains(failure.reason) { reasons.append(failure.reason) }
        return reasons.map { reason in
            var tasks: [String] = []
            for failure in failures where failure.reason == reason && tasks.last != failure.task {
                tasks.append(failure.task)
            }
            return "\(tasks.joined(separator: ", ")): \(reason)"
        }.joined(separator: "; ")
    }
}
