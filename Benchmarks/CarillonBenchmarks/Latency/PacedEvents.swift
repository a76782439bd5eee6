import NIOCore

/// Posts events at a steady pace, one at a time, and times each until a receiver has it.
struct PacedEvents: Sendable {
    /// How long events took to be accepted, and from there to the receiver, in milliseconds.
    struct Times: Sendable {
        /// From sending to the 202.
        var toAccepted = Series()
        /// From the 202 to the receiver; zero where the receiver was faster.
        var toReceiver = Series()
    }

    /// How many are timed of each source.
    let count: Int

    /// The pace.
    static let interval = Duration.milliseconds(50)
    private static let warmUpEvents = 20

    /// How long it may take for some sources.
    func limit(sources: Int) -> Duration { Self.interval * ((count + Self.warmUpEvents) * sources) + .seconds(60) }

    /// Takes an event of each source in turn.
    ///
    /// - Returns: The times of each source's events.
    /// - Throws: ``BenchmarkFailure`` when something else arrives than the event that was posted.
    func measure(_ sources: [FollowedEvent], _ arrivals: Arrivals) async throws -> [Times] {
        try await within(limit(sources: sources.count)) {
            var sources = sources
            var times = sources.map { _ in Times() }
            var iterator = arrivals.stream.makeAsyncIterator()
            var next = ContinuousClock.now
            for number in 0..<Self.warmUpEvents + count {
                for index in sources.indices {
                    let start = NIODeadline.now()
                    let acceptedAt = try await sources[index].post()
                    guard let arrival = await iterator.next() else { throw CancellationError() }
                    guard arrival.eventID == sources[index].id else {
                        throw BenchmarkFailure("a notification of another event arrived, or one arrived twice")
                    }
                    if number >= Self.warmUpEvents {
                        times[index].toAccepted.append((acceptedAt - start).milliseconds)
                        times[index].toReceiver.append(max(0, (arrival.at - acceptedAt).milliseconds))
                    }
                    next = max(next + Self.interval, .now)
                    try await Task.sleep(until: next)
                }
            }
            return times
        }
    }
}

extension TimeAmount {
    /// The time in milliseconds.
    var milliseconds: Double { Double(nanoseconds) / 1e6 }
}
