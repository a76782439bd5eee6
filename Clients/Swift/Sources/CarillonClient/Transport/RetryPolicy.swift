extension CarillonClient {
    /// How often and for how long a call is tried.
    ///
    /// Tried again is what failed in passing: no answer, and the statuses 408, 429, 502, 503 and 504. Everything that this library
    /// asks for can be done twice, so it does not matter whether the service had done it already.
    public struct RetryPolicy: Sendable, Hashable {
        /// How often it is tried at the most; 1 means once.
        public var maximumAttempts: Int
        /// How long the call may take in all, with the waits. A wait that would not end before it is not begun.
        public var deadline: Duration
        /// How long one attempt may take.
        public var attemptTimeout: Duration
        /// The wait after the first attempt; each further one is twice as long. Half of it is left to chance.
        public var firstWait: Duration
        /// The longest wait, unless the service asks for a longer one by `Retry-After`.
        public var longestWait: Duration

        /// A policy.
        ///
        /// - Parameters:
        ///   - maximumAttempts: How often it is tried at the most.
        ///   - deadline: How long the call may take in all.
        ///   - attemptTimeout: How long one attempt may take.
        ///   - firstWait: The wait after the first attempt.
        ///   - longestWait: The longest wait.
        public init(
            maximumAttempts: Int = 4,
            deadline: Duration = .seconds(30),
            attemptTimeout: Duration = .seconds(10),
            firstWait: Duration = .milliseconds(500),
            longestWait: Duration = .seconds(8)
        ) {
            self.maximumAttempts = maximumAttempts
            self.deadline = deadline
            self.attemptTimeout = attemptTimeout
            self.firstWait = firstWait
            self.longestWait = longestWait
        }

        /// Tries once.
        public static let never = RetryPolicy(maximumAttempts: 1)

        /// The wait after so many failures, with a number in `0..<1` that the caller draws.
        func wait(afterFailures count: Int, jitter: Double) -> Duration {
            let doubled = min(longestWait, firstWait * (1 << min(max(count, 1) - 1, 20)))
            return doubled * (0.5 + jitter / 2)
        }
    }
}
