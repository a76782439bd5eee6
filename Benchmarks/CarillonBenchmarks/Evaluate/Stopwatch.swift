/// Measures what takes nanoseconds.
struct Stopwatch: Sendable {
    /// How many rounds there are; the fastest counts, because only disturbances make one slower.
    let rounds: Int

    private static let roundDuration = Duration.milliseconds(50)

    /// Times an operation.
    ///
    /// - Parameters:
    ///   - count: How many operations one call of `body` does.
    ///   - body: Does them. What it returns has to depend on all of them, so that none can be optimised away.
    /// - Returns: Nanoseconds for one operation.
    /// - Throws: ``BenchmarkFailure`` when two calls return different things, so that they did not do the same.
    func nanoseconds(perOperationOf count: Int, _ body: () -> Int) throws(BenchmarkFailure) -> Double {
        let expected = body()
        var calls = 1
        var fastest: Double?
        var measured = 0
        while measured < rounds {
            var sum = 0
            let start = ContinuousClock.now
            for _ in 0..<calls { sum &+= body() }
            let duration = ContinuousClock.now - start
            guard sum == expected &* calls else { throw BenchmarkFailure("an operation has changing results") }
            guard duration >= Self.roundDuration || calls > 1 << 30 else {
                calls *= 2
                continue
            }
            let nanoseconds = duration / .nanoseconds(1) / Double(calls * count)
            fastest = min(fastest ?? nanoseconds, nanoseconds)
            measured += 1
        }
        return fastest ?? 0
    }
}
