import Subprocess

/// How long an event for one device takes from its 202 to the provider's receiver, in a service that has nothing else to do.
struct LatencyBenchmark: Benchmark {
    /// How many events are measured.
    let events: Int

    func report(in workshop: Workshop) async throws -> Report {
        let lines = Arrivals()
        let webhooks = Arrivals()
        return try await Cluster.withCluster(in: workshop) { cluster in
            try await LogReceiver.withReceiver(of: lines) { pipe in
                try await WebhookReceiver.withReceiver(of: webhooks) { port in
                    let environment: [Environment.Key: String] = ["CARILLON_EGRESS_ALLOW": "127.0.0.0/8"]
                    return try await ServiceUnderTest.withService(
                        on: cluster,
                        output: pipe.writeEnd,
                        environment: environment
                    ) { service in
                        var report = Report(benchmark: "latency")
                        report.figures += try await figures("webhook", .webhook(port: port), webhooks, cluster, service)
                        report.figures += try await figures("log", .log, lines, cluster, service)
                        report.notes = [
                            "one event every 50 ms; the time runs from when the sender has read the 202 to when the"
                                + " receiver has read the whole request or line, by one clock. A receiver that is faster"
                                + " than the 202 counts as zero."
                        ]
                        return report
                    }
                }
            }
        }
    }

    private func figures(
        _ name: String,
        _ device: DirectoryLines.Device,
        _ arrivals: Arrivals,
        _ cluster: Cluster,
        _ service: ServiceUnderTest
    ) async throws -> [Figure] {
        cluster.workshop.say("latency, \(events) events to a \(name) device")
        let shape = DirectoryLines(userCount: 2, channelCount: 1, membersPerChannel: 2, device: device)
        let network = try await TestNetwork.make(name, in: service)
        _ = try await network.fill(with: shape, in: service)
        let posts = SignedEvents(to: network, in: shape, senders: 1, run: name)
        let client = HTTPClient(port: service.port)
        let source = FollowedEvent(events: posts, client: client, network: network)
        guard let measured = try await PacedEvents(count: events).measure([source], arrivals).first else { return [] }
        return [
            Figure("\(name): sending to 202, p50", measured.toAccepted.median, "ms"),
            Figure("\(name): 202 to receiver, p50", measured.toReceiver.median, "ms", goal: .below(5)),
            Figure("\(name): 202 to receiver, p99", measured.toReceiver.percentile(0.99), "ms", goal: .below(20)),
            Figure("\(name): 202 to receiver, longest", measured.toReceiver.maximum, "ms"),
        ]
    }
}
