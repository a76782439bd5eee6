import NIOCore
import Postgres
import Subprocess

/// Accepted events a second with an endpoint that observes all of them, as a share of those without one.
///
/// Rounds alternate between a network without an endpoint and one with it. Then one long load shows whether the endpoint
/// falls behind.
struct RelayBenchmark: Benchmark {
    /// How often each measurement is repeated.
    let rounds: Int
    /// How long the long load lasts.
    let seconds: Int

    private static let roundSeconds = 10
    private static let shape = DirectoryLines(userCount: 1_000, channelCount: 200, membersPerChannel: 5)

    func report(in workshop: Workshop) async throws -> Report {
        let sink = EndpointSink()
        return try await Cluster.withCluster(in: workshop) { cluster in
            try await sink.withPort { port in
                try await ServiceUnderTest.withService(
                    on: cluster,
                    environment: ["CARILLON_EGRESS_ALLOW": "127.0.0.0/8"]
                ) { service in
                    workshop.say("relay, making the networks")
                    var plain = try await Self.scenario("alone", in: service)
                    var told = try await Self.scenario("observed", in: service)
                    try await told.network.makeEndpoint("observe", port: port, in: service)
                    try await plain.warmUp(cluster, service)
                    try await told.warmUp(cluster, service)
                    try await cluster.script("VACUUM ANALYZE")
                    for round in 1...rounds {
                        workshop.say("relay, round \(round) of \(rounds)")
                        try await cluster.checkpoint()
                        try await plain.load(.seconds(Self.roundSeconds), cluster, service)
                        try await cluster.checkpoint()
                        try await told.load(.seconds(Self.roundSeconds), cluster, service)
                    }
                    workshop.say("relay, \(seconds) s without a pause")
                    try await cluster.checkpoint()
                    let before = sink.current.messages
                    var reachedInTime = 0
                    try await told.load(.seconds(seconds), cluster, service) {
                        reachedInTime = sink.current.messages - before
                    }
                    _ = try await plain.verify(on: cluster)
                    let stored = try await told.verify(on: cluster)
                    guard sink.current.messages == stored.count else {
                        throw BenchmarkFailure(
                            "\(sink.current.messages) of \(stored.count) events reached the endpoint"
                        )
                    }
                    return report(plain, told, reachedInTime: reachedInTime, sink)
                }
            }
        }
    }

    private static func scenario(_ name: String, in service: ServiceUnderTest) async throws -> IngestScenario {
        try await IngestScenario(name, network: name, shape, .native(.named), in: service)
    }

    /// The last load of `told` is the long one.
    private func report(
        _ plain: IngestScenario,
        _ told: IngestScenario,
        reachedInTime: Int,
        _ sink: EndpointSink
    ) -> Report {
        let (alone, observed) = (Series(plain.rates), Series(told.rates.dropLast()))
        let inTime = Double(reachedInTime) / Double(max(1, told.accepted.last ?? 0))
        var report = Report(benchmark: "relay")
        report.figures = [
            Figure("accepted without an endpoint", alone, "/s"),
            Figure("accepted with one", observed, "/s"),
            Figure("with ÷ without", observed.median / alone.median, goal: .atLeast(0.6)),
            Figure("reached the endpoint in time ÷ accepted, \(seconds) s", inTime),
            Figure("all reached, after \(Self.roundSeconds) s", Series(told.drains.dropLast()), "s"),
            Figure("all reached, after \(seconds) s", told.drains.last ?? 0, "s"),
            Figure("messages that came more than once", count: sink.current.repeated),
            Figure("processor time without, service", plain.processorTime(\.service), "µs"),
            Figure("processor time with, service", told.processorTime(\.service), "µs"),
            Figure("processor time without, PostgreSQL", plain.processorTime(\.postgres), "µs"),
            Figure("processor time with, PostgreSQL", told.processorTime(\.postgres), "µs"),
        ]
        report.notes = [
            "signed message.sent events of about 600 bytes over 64 connections, as fast as they are accepted; nobody has a"
                + " device. The endpoint is in the load generator and answers 204 at once.",
            "the lag is flat where it takes as long after \(seconds) s as after \(Self.roundSeconds) s until all are reached.",
            "every accepted event reached the endpoint.",
        ]
        return report
    }
}
