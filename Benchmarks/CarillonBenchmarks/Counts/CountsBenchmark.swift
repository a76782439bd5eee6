/// What an event makes the service ask of Swift's runtime, of the system and of PostgreSQL: counts, which do not depend on how fast
/// the machine is, but on how many events share a batch.
struct CountsBenchmark: Benchmark {
    /// How long each load lasts.
    let seconds: Int
    /// Whether nothing is counted but what has limits.
    let onlyLimits: Bool

    /// Places with fewer retains an event are left out.
    private static let leastRetains = 30.0
    private static let eventsPerRequest = 50

    /// Batches of one, and of as many as a request has: neither depends on the machine.
    private static let fixed: [EventLoad] = [
        EventLoad(name: "one connection"),
        EventLoad(name: "one connection, four notifications", device: .log),
        EventLoad(name: "\(eventsPerRequest) a request", eventsPerRequest: eventsPerRequest),
        EventLoad(
            name: "\(eventsPerRequest) a request, four notifications",
            eventsPerRequest: eventsPerRequest,
            device: .log
        ),
    ]
    /// Batches of as many as come meanwhile. Retains are told by place, too.
    private static let shared: [EventLoad] = [
        EventLoad(name: "64 connections", connections: 64),
        EventLoad(name: "64 connections, four notifications", connections: 64, device: .log),
    ]

    func report(in workshop: Workshop) async throws -> Report {
        try await CountedService.withService(in: workshop) { counted in
            var report = Report(benchmark: "counts")
            for load in Self.fixed where !onlyLimits || !CallLimits.of(load).isEmpty {
                report.figures += figures(of: load, try await counts(of: load, counted))
            }
            for load in onlyLimits ? [] : Self.shared {
                let counts = try await counts(of: load, counted)
                report.figures += figures(of: load, counts)
                report.figures += try await places(of: counts, load, in: workshop)
            }
            report.notes = [
                "what is counted is what crosses from one library to another, so that it is less than what happens; copies of"
                    + " values are not counted, but for the retains that they make.",
                "events are those of ingest; numbers are for each accepted event, from its request until nothing is left to do.",
            ]
            return report
        }
    }

    private func counts(of load: EventLoad, _ counted: CountedService) async throws -> EventCounts {
        counted.cluster.workshop.say("counts, \(load.name)")
        return try await counted.counts(of: load, for: .seconds(seconds))
    }

    private func figures(of load: EventLoad, _ counts: EventCounts) -> [Figure] {
        let limits = CallLimits.of(load)
        var figures: [Figure] = CallCounter.Kind.allCases.compactMap { kind in
            let limit = limits[kind]
            guard !onlyLimits || limit != nil else { return nil }
            return Figure("\(load.name): \(kind.name)", counts.each(kind), goal: limit.map { .atMost($0) })
        }
        if !onlyLimits { figures.append(Figure("\(load.name): context switches", counts.each(counts.switches))) }
        return figures
    }

    private func places(of counts: EventCounts, _ load: EventLoad, in workshop: Workshop) async throws -> [Figure] {
        let places = try await CallSites.calls(of: counts.calls.retains, in: workshop.program)
        return places.sorted { $0.value > $1.value }.map { ($0.key, counts.each($0.value)) }
            .filter { $0.1 >= Self.leastRetains }
            .map { Figure("\(load.name): retains, \($0.0)", $0.1) }
    }
}
