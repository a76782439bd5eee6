import Postgres

/// A service whose calls are counted, on a server of its own.
struct CountedService: Sendable {
    let cluster: Cluster
    let service: ServiceUnderTest
    private let calls: CallCounter
    /// Whether PostgreSQL counts statements itself, and the shared buffers that they look at.
    private let countsBuffers: Bool

    private static let warmUp = Duration.seconds(1)

    /// Starts a service and lends it. That PostgreSQL counts, too, takes its module `pg_stat_statements`.
    static func withService<Value: Sendable>(
        in workshop: Workshop,
        countsBuffers: Bool = false,
        _ body: (CountedService) async throws -> Value
    ) async throws -> Value {
        let calls = try await CallCounter(in: workshop)
        let settings = countsBuffers ? StatementStatistics.settings : [:]
        return try await Cluster.withCluster(in: workshop, settings: settings) { cluster in
            if countsBuffers { try await cluster.script(StatementStatistics.installation) }
            return try await ServiceUnderTest.withService(on: cluster, launcher: calls.launcher) { service in
                try await body(
                    CountedService(cluster: cluster, service: service, calls: calls, countsBuffers: countsBuffers)
                )
            }
        }
    }

    /// Posts events for a while and counts until nothing is left to do.
    func counts(of load: EventLoad, for duration: Duration) async throws -> EventCounts {
        var scenario = try await load.scenario(in: service)
        try await scenario.warmUp(cluster, service, for: Self.warmUp)
        // So that plans are those of what is there.
        try await cluster.script("VACUUM ANALYZE")
        if countsBuffers { try await cluster.script(StatementStatistics.beginning) }
        let (before, switchesBefore) = (try calls.counts(), service.process.contextSwitches)
        try await scenario.load(duration, cluster, service)
        let (counted, switches) = (try calls.counts() - before, service.process.contextSwitches - switchesBefore)
        let statistics = countsBuffers ? try await StatementStatistics(of: cluster) : nil
        _ = try await scenario.verify(on: cluster)
        return EventCounts(
            events: scenario.accepted.reduce(0, +),
            calls: counted,
            switches: switches,
            statistics: statistics
        )
    }
}

/// What was counted of some events.
struct EventCounts: Sendable {
    /// How many were accepted.
    let events: Int
    /// What the service asked for.
    let calls: CallCounter.Counts
    /// How often a thread of the service made way for another.
    let switches: Int
    /// What PostgreSQL counted, where it did.
    let statistics: StatementStatistics?

    /// A count for each event.
    func each(_ count: Int) -> Double { Double(count) / Double(max(1, events)) }

    /// The calls of a kind for each event.
    func each(_ kind: CallCounter.Kind) -> Double { each(calls.calls[kind.rawValue]) }

    /// The system calls for each event.
    var systemCalls: Double {
        [.reads, .writes, .polls, .random, .waits, .others].reduce(0) { $0 + each($1) }
    }
}
