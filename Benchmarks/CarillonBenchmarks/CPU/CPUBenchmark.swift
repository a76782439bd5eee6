/// The processor time of an event, of the service and of PostgreSQL, beside that of a single-row commit of `pgbench` in the same round:
/// other work on the machine moves it by a tenth where it moves rates by half.
///
/// With another build it is before and after: both are there all the time, each with a server of its own, and have their turns in every
/// round.
struct CPUBenchmark: Benchmark {
    /// How often each measurement is repeated.
    let rounds: Int
    /// How long each measurement lasts.
    let seconds: Int
    /// Over how many connections events are posted, one number after the other.
    let connections: [Int]
    /// Another build of the program.
    let other: String?

    /// What is posted to of connections when nothing else is asked for.
    static let usualConnections = [1, 8, 64, 256]

    private static let warmUp = Duration.seconds(1)
    private static let longestCount = 2

    func report(in workshop: Workshop) async throws -> Report {
        var workshops = [workshop]
        if let other { workshops.append(try workshop.with(program: other)) }
        // Whether calls can be counted is known before minutes of measuring.
        _ = try await CallCounter(in: workshop)
        var report = Report(benchmark: "cpu")
        let (figures, canCountBuffers) = try await CPUBuild.withBuilds(in: workshops) { builds in
            (try await measured(builds), try await StatementStatistics.isInstalled(on: builds[0].cluster))
        }
        report.figures = figures
        for (index, workshop) in workshops.enumerated() {
            report.figures += try await counted(CPUBuild.names[index], countsBuffers: canCountBuffers, in: workshop)
        }
        report.notes = notes
        if !canCountBuffers {
            report.notes.append("this PostgreSQL is without pg_stat_statements, which counts flights.")
        }
        return report
    }

    private func measured(_ lent: [CPUBuild]) async throws -> [Figure] {
        var builds = lent
        let cluster = builds[0].cluster
        let yardstick = try await SingleRowYardstick(on: cluster)
        cluster.workshop.say("cpu, warming up")
        _ = try await yardstick.commits(seconds: 1)
        for index in builds.indices { try await builds[index].prepare(connections, warmUp: Self.warmUp) }
        var commits: [Int: [SingleRowYardstick.Commits]] = [:]
        for round in 1...rounds {
            for connections in connections {
                cluster.workshop.say("cpu, round \(round) of \(rounds), \(CPUBuild.name(connections, nil))")
                try await cluster.checkpoint()
                commits[connections, default: []].append(try await yardstick.commits(seconds: seconds))
                for device in CPUBuild.devices {
                    // By turns the first, so that whatever comes after something else does so for both.
                    for index in round.isMultiple(of: 2) ? builds.indices.reversed() : Array(builds.indices) {
                        try await builds[index].load(connections, device, .seconds(seconds))
                    }
                }
            }
        }
        for build in builds { try await build.verify() }
        return Self.figures(of: commits.values.flatMap(\.self)) + builds.flatMap { $0.figures(beside: commits) }
            + (builds.count > 1 ? builds[0].figures(beside: builds[1]) : [])
    }

    private static func figures(of commits: [SingleRowYardstick.Commits]) -> [Figure] {
        [
            Figure("pgbench, single-row commits", Series(commits.map(\.rate)), "/s"),
            Figure("processor time of a commit, PostgreSQL", Series(commits.map(\.postgres)), "µs"),
            Figure("processor time of a commit, pgbench", Series(commits.map(\.client)), "µs"),
            Figure("processor time of a commit, both", Series(commits.map(\.both)), "µs"),
        ]
    }

    /// What is counted is counted for itself: what counts costs time.
    private func counted(_ name: String, countsBuffers: Bool, in workshop: Workshop) async throws -> [Figure] {
        try await CountedService.withService(in: workshop, countsBuffers: countsBuffers) { counted in
            var figures: [Figure] = []
            for connections in connections {
                for device in CPUBuild.devices {
                    let load = EventLoad(
                        name: CPUBuild.name(connections, device),
                        connections: connections,
                        device: device
                    )
                    workshop.say("cpu, counting, \(load.name)")
                    let counts = try await counted.counts(of: load, for: .seconds(min(seconds, Self.longestCount)))
                    figures += counts.figures.map { $0.named("\(load.name): \($0.name)") }
                }
            }
            return figures.map { $0.named(other == nil ? $0.name : "\(name), \($0.name)") }
        }
    }

    private var notes: [String] {
        [
            "events are those of ingest; processor time is for each accepted event, from the beginning of the load until everything is"
                + " done; a commit is one of 32 clients of pgbench with a row of 600 bytes, prepared, with what pgbench takes itself.",
            "ratios are of what was measured in the same round, one after the other.",
            "counts are of a load by itself, of \(min(seconds, Self.longestCount)) s, in which whatever counts takes time; a flight is the"
                + " events of one commit.",
        ] + (other.map { ["'\(CPUBuild.names[1])' is \($0)."] } ?? [])
    }
}

extension EventCounts {
    /// What is counted of an event, and of a flight.
    fileprivate var figures: [Figure] {
        var figures: [Figure] = []
        if let statistics, statistics.flights > 0 {
            let flights = Double(statistics.flights)
            figures = [
                Figure("events of a flight", Double(events) / flights),
                Figure("statements of a flight", Double(statistics.statements) / flights),
                Figure("shared buffers of a flight", Double(statistics.buffers) / flights),
                Figure("statements of an event", each(statistics.statements)),
                Figure("shared buffers of an event", each(statistics.buffers)),
            ]
        }
        return figures + [
            Figure("context switches of an event", each(switches)), Figure("system calls of an event", systemCalls),
        ]
    }
}
