import Postgres

/// A service that is stopped while a push service takes four seconds for each answer.
struct SlowStop: Sendable {
    private static let devices = 10_000
    private static let delay = 4_000
    private static let limit = Duration.seconds(60)

    /// How large the audience is.
    let size: Double

    /// Measures.
    /// - Throws: What does not start or does not stop.
    func figures(in workshop: Workshop) async throws -> [Figure] {
        let devices = max(100, Int(Double(Self.devices) * size))
        let options = SimulatorProcess.Options(delay: Self.delay)
        return try await SimulatorProcess.withSimulator(options, in: workshop) { simulator in
            try await Cluster.withCluster(in: workshop) { cluster in
                let before = try await stop(simulator, devices, cluster)
                // What was on its way arrives here even when it was begun before.
                try await Task.sleep(for: .seconds(1))
                let stopped = try await simulator.count().total
                let again = try await ServiceUnderTest.withService(on: cluster, environment: simulator.environment) {
                    _ in try await cluster.waitUntilDone()
                }
                workshop.say("slow-stop: everything was done \(again.shortText) s after the restart")
                let total = try await simulator.count().total
                return [
                    Figure("sends of \(devices) before SIGTERM", count: before),
                    Figure("sends that arrived after SIGTERM", count: stopped - before),
                    Figure("sends that came twice", count: total - devices),
                ]
            }
        }
    }

    /// Starts a service, lets it send, and stops it; answers how many sends had arrived by then.
    private func stop(_ simulator: SimulatorProcess, _ devices: Int, _ cluster: Cluster) async throws -> Int {
        try await ServiceUnderTest.withService(on: cluster, environment: simulator.environment) { service in
            let network = try await TestNetwork.make("slow", in: service)
            let credential = simulator.greeting.credential(of: .apns)
            try await network.store(credential, of: .apns, in: service)
            let directory = PushDirectory.crowd(of: PushService.apns.addresses(count: devices, from: simulator))
            _ = try await network.fill(with: directory, in: service)
            try await cluster.script("VACUUM ANALYZE")
            let events = SignedEvents(to: network, in: directory.shape, senders: 1, run: "message")
            var event = FollowedEvent(events: events, client: HTTPClient(port: service.port), network: network)
            _ = try await event.post()
            let deadline = ContinuousClock.now + Self.limit
            while try await simulator.count().total < devices / 5 {
                guard ContinuousClock.now < deadline else { throw BenchmarkFailure("nothing is sent") }
                try await Task.sleep(for: .milliseconds(10))
            }
            return try await simulator.count().total
        }
    }
}
