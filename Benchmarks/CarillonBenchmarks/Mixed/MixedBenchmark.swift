import Postgres

/// How many events a second the service takes and brings to all devices for as long as one likes, in channels of 20.
///
/// The load comes at a steady rate, whatever the service does (an open loop). The rate is raised until what waits grows,
/// and the highest at which it does not is then kept up for long.
struct MixedBenchmark: Benchmark {
    /// How long the sustained load lasts.
    let seconds: Int

    private static let shape = DirectoryLines(
        userCount: 2_000,
        channelCount: 500,
        membersPerChannel: 20,
        device: .log
    )
    private static let recipients = shape.membersPerChannel - 1
    private static let stepDuration = Duration.seconds(5)
    private static let firstRate = 200.0
    /// A rate that holds for seconds may not hold for a minute: then it is lowered by this factor.
    private static let retreat = 0.9
    private static let longestRetreat = 5

    func report(in workshop: Workshop) async throws -> Report {
        try await Cluster.withCluster(in: workshop) { cluster in
            let notifications = NotificationFile(path: workshop.newPath("notifications.ndjson"))
            let output = try notifications.create()
            return try await ServiceUnderTest.withService(on: cluster, output: output) { service in
                let network = try await TestNetwork.make(MixedLoad.networkID, in: service)
                _ = try await network.fill(with: Self.shape, in: service)
                try await cluster.script("VACUUM ANALYZE")
                var load = MixedLoad(Self.shape, of: network, cluster: cluster, service: service)
                let best = try await search(&load)
                let sustained = try await sustain(from: best, &load)
                try notifications.verify(lineCount: try await load.verify())
                return report(of: sustained, memory: try service.process.peakResidentBytes)
            }
        }
    }

    /// Finds a rate that holds for some seconds.
    private func search(_ load: inout MixedLoad) async throws -> Double {
        _ = try await load.observe(rate: Self.firstRate, for: Self.stepDuration)
        var search = RateSearch(from: Self.firstRate)
        while let rate = search.next {
            let observation = try await load.observe(rate: rate, for: Self.stepDuration)
            search.tried(isSustained: observation.isSustained)
        }
        guard let best = search.best else { throw BenchmarkFailure("no rate could be sustained") }
        return best
    }

    /// Keeps a rate up; when it does not hold, the last try counts.
    private func sustain(from best: Double, _ load: inout MixedLoad) async throws -> Observation {
        var rate = best
        var observation = try await load.observe(rate: rate, for: .seconds(seconds))
        for _ in 0..<Self.longestRetreat where !observation.isSustained {
            rate *= Self.retreat
            observation = try await load.observe(rate: rate, for: .seconds(seconds))
        }
        return observation
    }

    private func report(of observation: Observation, memory: Int) -> Report {
        let ages = Series(observation.samples.map(\.queueAge))
        let lags = Series(observation.samples.map(\.lag))
        let isFlat = Figure.Goal.below(observation.allowedGrowth)
        var report = Report(benchmark: "mixed")
        report.figures = [
            Figure("sustained for", observation.load.seconds, "s"),
            Figure("events posted", observation.rate, "/s"),
            Figure("events accepted", observation.load.rate, "/s"),
            Figure("notifications done", observation.notificationRate, "/s"),
            Figure("refused with 503", count: observation.load.refused),
            Figure("202, p50", observation.load.latency.percentile(0.5), "ms"),
            Figure("202, p99", observation.load.latency.percentile(0.99), "ms"),
            Figure("queue age", ages, "s"),
            Figure("queue age, growth", observation.queueAgeGrowth, "s", goal: isFlat),
            Figure("work waiting", lags, "s"),
            Figure("work waiting, growth", observation.lagGrowth, "s", goal: isFlat),
            Figure("resident memory", Double(memory) / 1e6, "MB"),
        ]
        report.notes = [
            "signed messages at a steady rate into \(Self.shape.channelCount) channels of"
                + " \(Self.shape.membersPerChannel) of \(Self.shape.userCount) users with a log device each:"
                + " \(Self.recipients) notifications for each event.",
            "'work waiting' is the notifications that have yet to go out, as the seconds in which they came in; growth is"
                + " the mean of the last third of the time less that of the first.",
        ]
        return report
    }
}
