import NIOCore
import Postgres
import Subprocess

/// How much sooner webhooks are sent when there are replicas that nobody posts to.
struct ReplicaGrowth: Sendable {
    private static let counts = [1, 2, 4]
    private static let events = 600
    private static let shape = DirectoryLines(userCount: 31, channelCount: 1, membersPerChannel: 31)
    private static let delay = TimeAmount.milliseconds(300)
    private static let limit = Duration.seconds(180)

    private static var webhooks: Int { events * (shape.membersPerChannel - 1) }

    static var note: String {
        "replicas: \(webhooks) webhooks in groups of \(shape.membersPerChannel - 1), to one server that takes"
            + " \(delay.nanoseconds / 1_000_000) ms for each, all posted to one of the replicas; from the first post to the last"
            + " webhook."
    }

    /// Measures.
    /// - Throws: ``BenchmarkFailure`` when webhooks are lost or come twice.
    func figures(in workshop: Workshop) async throws -> [Figure] {
        var figures: [Figure] = []
        var alone = 0.0
        for count in Self.counts {
            workshop.say("growth, \(count) replicas, one of which is posted to")
            let rate = try await rate(replicas: count, in: workshop)
            if count == 1 { alone = rate }
            figures.append(Figure("\(count) replicas, one posted to: webhooks", rate, "/s"))
            if count > 1 { figures.append(Figure("\(count) replicas, one posted to: ÷ one replica", rate / alone)) }
        }
        return figures
    }

    /// Webhooks a second.
    private func rate(replicas: Int, in workshop: Workshop) async throws -> Double {
        let sink = EndpointSink(delay: Self.delay)
        return try await sink.withPort { port in
            try await Cluster.withCluster(in: workshop) { cluster in
                try await withReplicas(replicas, on: cluster) { services in
                    var shape = Self.shape
                    shape.device = .webhook(port: port)
                    let network = try await TestNetwork.make("replicas", in: services[0])
                    _ = try await network.fill(with: shape, in: services[0])
                    try await cluster.script("VACUUM ANALYZE")
                    return try await post(to: network, of: services[0], sink)
                }
            }
        }
    }

    private func post(
        to network: TestNetwork,
        of service: ServiceUnderTest,
        _ sink: EndpointSink
    ) async throws -> Double {
        var events = SignedEvents(to: network, in: Self.shape, style: .bare, senders: 1, run: "replicas")
        let client = HTTPClient(port: service.port)
        let start = ContinuousClock.now
        for _ in 0..<Self.events { _ = try await client.send(events.next()).expecting(202) }
        await client.close()
        while sink.arrivals.count < Self.webhooks {
            guard ContinuousClock.now - start < Self.limit else {
                throw BenchmarkFailure("\(sink.arrivals.count) of \(Self.webhooks) webhooks came within \(Self.limit)")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        let seconds = (sink.arrivals.last - start) / .seconds(1)
        // What comes twice comes soon after.
        try await Task.sleep(for: .seconds(2))
        guard sink.arrivals.count == Self.webhooks else {
            throw BenchmarkFailure("\(sink.arrivals.count) webhooks came, of \(Self.webhooks)")
        }
        return Double(Self.webhooks) / seconds
    }

    private func withReplicas<Value: Sendable>(
        _ count: Int,
        on cluster: Cluster,
        beside others: [ServiceUnderTest] = [],
        _ body: ([ServiceUnderTest]) async throws -> Value
    ) async throws -> Value {
        if others.count == count { return try await body(others) }
        return try await ServiceUnderTest.withService(
            on: cluster,
            environment: [
                "CARILLON_DATA_DIR": cluster.workshop.newPath("data"), "CARILLON_EGRESS_ALLOW": "127.0.0.0/8",
            ]
        ) { service in
            try await withReplicas(count, on: cluster, beside: others + [service], body)
        }
    }
}
