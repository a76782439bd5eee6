/// What an event makes the service ask of Swift's runtime, of the system and of PostgreSQL: counts, which do not depend on how fast
/// the machine is, but on how many events share a batch.
struct CountsBenchmark: Benchmark {
    /// How long each load lasts.
    let seconds: Int

    private static let membersPerChannel = 5
    /// Places with fewer retains an event are left out.
    private static let leastRetains = 30.0

    /// One load: who posts, and whether anybody has devices.
    private struct Load {
        var name: String
        var connections: Int
        var device: DirectoryLines.Device?
        /// Whether retains are told by place, too.
        var isDivided = false
    }

    private static let loads = [
        Load(name: "one connection", connections: 1),
        Load(name: "one connection, four notifications", connections: 1, device: .log),
        Load(name: "64 connections", connections: 64, isDivided: true),
        Load(name: "64 connections, four notifications", connections: 64, device: .log, isDivided: true),
    ]

    func report(in workshop: Workshop) async throws -> Report {
        let counter = try await CallCounter(in: workshop)
        return try await Cluster.withCluster(in: workshop) { cluster in
            let notifications = NotificationFile(path: workshop.newPath("notifications.ndjson"))
            return try await ServiceUnderTest.withService(
                on: cluster,
                output: try notifications.create(),
                launcher: counter.launcher
            ) { service in
                var report = Report(benchmark: "counts")
                for (index, load) in Self.loads.enumerated() {
                    workshop.say("counts, \(load.name)")
                    report.figures += try await figures(of: load, network: "n\(index)", counter, cluster, service)
                }
                report.notes = [
                    "what is counted is what crosses from one library to another, so that it is less than what happens; copies of"
                        + " values are not counted, but for the retains that they make.",
                    "events are those of ingest; numbers are for each accepted event, from its request until nothing is left to do.",
                ]
                return report
            }
        }
    }

    private func figures(
        of load: Load,
        network: String,
        _ counter: CallCounter,
        _ cluster: Cluster,
        _ service: ServiceUnderTest
    ) async throws -> [Figure] {
        var shape = DirectoryLines(userCount: 1_000, channelCount: 200, membersPerChannel: Self.membersPerChannel)
        shape.device = load.device
        var scenario = try await IngestScenario(load.name, network: network, shape, .native(.named), in: service)
        scenario.connections = load.connections
        try await scenario.warmUp(cluster, service)
        let (before, switchesBefore) = (try counter.counts(), service.process.contextSwitches)
        try await scenario.load(.seconds(seconds), cluster, service)
        let (counts, switches) = (
            try counter.counts() - before, service.process.contextSwitches - switchesBefore
        )
        _ = try await scenario.verify(on: cluster)
        let events = Double(max(1, scenario.accepted.reduce(0, +)))
        var figures = CallCounter.Kind.allCases.map { kind in
            Figure("\(load.name): \(kind.name)", Double(counts.calls[kind.rawValue]) / events)
        }
        figures.append(Figure("\(load.name): context switches", Double(switches) / events))
        guard load.isDivided else { return figures }
        let places = try await CallPlaces.places(of: counts.retains, in: cluster.workshop.program)
        for (place, count) in places.sorted(by: { $0.value > $1.value })
        where Double(count) / events >= Self.leastRetains {
            figures.append(Figure("\(load.name): retains, \(place)", Double(count) / events))
        }
        return figures
    }
}
