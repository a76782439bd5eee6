import Postgres

/// Accepted, signed and durable events a second, as a share of the single-row commits a second that `pgbench` gets out of
/// the same server.
///
/// Rounds alternate between the yardstick and each scenario, and every measurement starts after a checkpoint and with
/// nothing left to do.
struct IngestBenchmark: Benchmark {
    /// How often each measurement is repeated.
    let rounds: Int
    /// How long each measurement lasts.
    let seconds: Int

    private static let users = 1_000
    private static let channels = 200
    private static let membersPerChannel = 5

    func report(in workshop: Workshop) async throws -> Report {
        try await Cluster.withCluster(in: workshop) { cluster in
            let notifications = NotificationFile(path: workshop.newPath("notifications.ndjson"))
            return try await ServiceUnderTest.withService(on: cluster, output: try notifications.create()) { service in
                let yardstick = try await SingleRowYardstick(on: cluster)
                var commits: [Double] = []
                var scenarios = try await Self.scenarios(in: service)
                try await warmUp(yardstick, &scenarios, cluster, service)
                for round in 1...rounds {
                    workshop.say("ingest, round \(round) of \(rounds): pgbench")
                    try await cluster.checkpoint()
                    commits.append(try await yardstick.commits(seconds: seconds).rate)
                    for index in scenarios.indices {
                        workshop.say("ingest, round \(round) of \(rounds): \(scenarios[index].name)")
                        try await cluster.checkpoint()
                        try await scenarios[index].load(.seconds(seconds), cluster, service)
                    }
                }
                var delivered = 0
                for scenario in scenarios { delivered += try await scenario.verify(on: cluster).delivered }
                try notifications.verify(lineCount: delivered)
                return Self.report(of: scenarios, commits: Series(commits))
            }
        }
    }

    /// The first is the one that the goals are about: whatever is fanned out besides is its own benchmark's business.
    private static func scenarios(in service: ServiceUnderTest) async throws -> [IngestScenario] {
        var shape = DirectoryLines(userCount: users, channelCount: channels, membersPerChannel: membersPerChannel)
        let withoutDevices = shape
        shape.device = .log
        return [
            try await IngestScenario("no devices", network: "plain", withoutDevices, .native(.named), in: service),
            try await IngestScenario(
                "no devices, ids only",
                network: "bare",
                withoutDevices,
                .native(.bare),
                in: service
            ),
            try await IngestScenario("log devices", network: "devices", shape, .native(.named), in: service),
            try await IngestScenario("amity", network: "amity", withoutDevices, .foreign(.amity), in: service),
            try await IngestScenario("stream", network: "stream", withoutDevices, .foreign(.stream), in: service),
        ]
    }

    /// Fills caches and lets the servers grow to their working size; nothing of it counts.
    private func warmUp(
        _ yardstick: SingleRowYardstick,
        _ scenarios: inout [IngestScenario],
        _ cluster: Cluster,
        _ service: ServiceUnderTest
    ) async throws {
        cluster.workshop.say("ingest, warming up")
        _ = try await yardstick.commits(seconds: 1)
        for index in scenarios.indices { try await scenarios[index].warmUp(cluster, service) }
        try await cluster.script("VACUUM ANALYZE")
    }

    private static func report(of scenarios: [IngestScenario], commits: Series) -> Report {
        var report = Report(benchmark: "ingest")
        report.figures.append(Figure("pgbench, single-row commits", commits, "/s"))
        for (index, scenario) in scenarios.enumerated() {
            report.figures += scenario.figures(commits: commits.median, areGoals: index == 0)
            guard scenario.isForeign else { continue }
            let ratios = Series(zip(scenario.rates, scenarios[0].rates).map { $0 / max(1, $1) })
            report.figures.append(
                Figure("\(scenario.name): accepted ÷ \(scenarios[0].name)'", ratios, goal: .atLeast(0.8))
            )
        }
        report.notes = [
            "every event is a signed message.sent of about 600 bytes with an id of its own, over 64 connections, by one"
                + " of \(users) users into one of \(channels) channels of \(membersPerChannel) members.",
            "'no devices' has names and roles in the events, which are facts for the directory; 'log devices' also sends"
                + " \(membersPerChannel - 1) notifications for each event while it is under load.",
            "'amity' and 'stream' are those backends' webhooks of a message, as long, signed as they sign them, without devices.",
            "processor time is for each accepted event, while the load lasts.",
            "every 202 was found in the database afterwards, every event was done, and every notification was written"
                + " once.",
        ]
        return report
    }
}
