import NIOCore
import Subprocess

/// How much later a notification arrives because an endpoint is asked about it, beyond the endpoint's own answer, and how
/// many questions an endpoint gets at a time.
struct InterceptBenchmark: Benchmark {
    /// How many events of each kind are measured.
    let events: Int

    /// Long enough for a line to form behind the questions.
    private static let slowAnswer = TimeAmount.milliseconds(50)
    /// Short enough for everybody in that line to be asked in time.
    private static let burst = Duration.milliseconds(300)
    private static let questionsAtOnce = 64

    func report(in workshop: Workshop) async throws -> Report {
        let sink = EndpointSink()
        let slow = EndpointSink(delay: Self.slowAnswer)
        return try await Cluster.withCluster(in: workshop) { cluster in
            try await sink.withPort { port in
                try await slow.withPort { slowPort in
                    try await ServiceUnderTest.withService(
                        on: cluster,
                        environment: ["CARILLON_EGRESS_ALLOW": "127.0.0.0/8"]
                    ) { service in
                        var report = Report(benchmark: "intercept")
                        report.figures += try await latencies(sink, port: port, cluster, service)
                        report.figures += try await questionsAtOnce(slow, port: slowPort, cluster, service)
                        report.notes = [
                            """
                            from the 202 to the arrival at a webhook device, one event every 50 ms, by turns in a network \
                            without an endpoint and in one whose endpoint is asked and answers 204 at once; what the same \
                            POST takes by itself is taken off.
                            """
                        ]
                        return report
                    }
                }
            }
        }
    }

    /// Notifications of a network without an endpoint, and of one with it.
    private func latencies(
        _ sink: EndpointSink,
        port: Int,
        _ cluster: Cluster,
        _ service: ServiceUnderTest
    ) async throws -> [Figure] {
        let arrivals = Arrivals()
        return try await WebhookReceiver.withReceiver(of: arrivals) { receiver in
            let device = DirectoryLines.Device.webhook(port: receiver)
            let shape = DirectoryLines(userCount: 2, channelCount: 1, membersPerChannel: 2, device: device)
            var sources: [FollowedEvent] = []
            for name in ["unasked", "asked"] {
                let network = try await TestNetwork.make(name, in: service)
                _ = try await network.fill(with: shape, in: service)
                if name == "asked" { try await network.makeEndpoint("intercept", port: port, in: service) }
                let posts = SignedEvents(to: network, in: shape, senders: 1, run: name)
                sources.append(FollowedEvent(events: posts, client: HTTPClient(port: service.port), network: network))
            }
            cluster.workshop.say("intercept, \(events) events with and without")
            let times = try await PacedEvents(count: events).measure(sources, arrivals).map(\.toReceiver)
            let asked = sink.current.messages
            guard asked > events, sink.current.repeated == 0 else {
                throw BenchmarkFailure(
                    "the endpoint was asked \(asked) times, and \(sink.current.repeated) times again"
                )
            }
            let bare = try await bareAnswers(port: port)
            let added = times[1].median - times[0].median - bare.median
            return [
                Figure("without an endpoint: 202 to receiver, p50", times[0].median, "ms"),
                Figure("with one: 202 to receiver, p50", times[1].median, "ms"),
                Figure("with one: 202 to receiver, p99", times[1].percentile(0.99), "ms"),
                Figure("the endpoint's own answer, p50", bare.median, "ms"),
                Figure("added besides, p50", added, "ms", goal: .below(3)),
            ]
        }
    }

    /// How long a POST of the size of a question takes to be answered.
    private func bareAnswers(port: Int) async throws -> Series {
        let client = HTTPClient(port: port)
        var times = Series()
        for number in 0..<events {
            let headers = [("content-type", "application/json"), ("webhook-id", "bare-\(number)")]
            let body = [UInt8](repeating: UInt8(ascii: " "), count: 1_000)
            let start = NIODeadline.now()
            let answer = try await client.send(HTTPRequest(method: "POST", path: "/", headers: headers, body: body))
            times.append((answer.arrivedAt - start).milliseconds)
            try await Task.sleep(for: .milliseconds(5))
        }
        await client.close()
        return times
    }

    /// A burst of events with an endpoint that takes its time.
    private func questionsAtOnce(
        _ sink: EndpointSink,
        port: Int,
        _ cluster: Cluster,
        _ service: ServiceUnderTest
    ) async throws -> [Figure] {
        let shape = DirectoryLines(userCount: 100, channelCount: 50, membersPerChannel: 2, device: .log)
        let network = try await TestNetwork.make("burst", in: service)
        _ = try await network.fill(with: shape, in: service)
        try await network.makeEndpoint("intercept", port: port, in: service)
        cluster.workshop.say("intercept, a burst of events")
        let events = SignedEvents(to: network, in: shape, run: "burst")
        let accepted = try await LoadGenerator(port: service.port, duration: Self.burst).post(events).accepted
        _ = try await cluster.waitUntilDone()
        let most = sink.current.mostAtOnce
        guard most <= Self.questionsAtOnce else { throw BenchmarkFailure("\(most) questions were asked at a time") }
        return [
            Figure("burst: events", count: accepted),
            Figure("burst: asked about", count: sink.current.messages),
            Figure("burst: most questions at a time", count: most, goal: .atLeast(Double(Self.questionsAtOnce))),
        ]
    }
}
