/// Loads the service at steady rates and watches how far behind it falls.
struct MixedLoad: Sendable {
    /// The network that is loaded.
    static let networkID = "chat"

    private static let sampleInterval = Duration.milliseconds(250)

    private let network: TestNetwork
    private let shape: DirectoryLines
    private let cluster: Cluster
    private let service: ServiceUnderTest
    private var results: [LoadResult] = []

    init(_ shape: DirectoryLines, of network: TestNetwork, cluster: Cluster, service: ServiceUnderTest) {
        self.shape = shape
        self.network = network
        self.cluster = cluster
        self.service = service
    }

    /// Loads the service with so many events a second, and then waits until it has nothing left to do.
    mutating func observe(rate: Double, for duration: Duration) async throws -> Observation {
        let events = SignedEvents(to: network, in: shape, run: "run-\(results.count + 1)")
        let generator = LoadGenerator(port: service.port, pace: .perSecond(rate), duration: duration)
        let notificationsPerEvent = Double(shape.membersPerChannel - 1)
        let watch = Watch(service: service, rate: rate, notificationsPerEvent: notificationsPerEvent)
        async let watched = watch.samples(for: duration)
        let load = try await generator.post(events)
        let (samples, notificationRate) = try await watched
        results.append(load)
        _ = try await cluster.waitUntilDone()
        let observation = Observation(rate: rate, load: load, notificationRate: notificationRate, samples: samples)
        let verdict = observation.isSustained ? "sustained" : "not sustained"
        cluster.workshop.say(
            "mixed, \(rate.shortText) events/s: took \(load.rate.shortText)/s, refused \(load.refused), work waiting"
                + " \((samples.last?.lag ?? 0).shortText) s, \(verdict)"
        )
        return observation
    }

    /// Checks that nothing was lost and everything came out that had to; answers how many notifications were delivered.
    func verify() async throws -> Int {
        try await StoredEvents(
            of: Self.networkID,
            accepted: results.reduce(0) { $0 + $1.accepted },
            refused: results.reduce(0) { $0 + $1.refused },
            notificationsPerEvent: shape.membersPerChannel - 1,
            in: cluster
        ).delivered
    }

    /// Samples the service's metrics.
    private struct Watch: Sendable {
        let service: ServiceUnderTest
        let rate: Double
        let notificationsPerEvent: Double

        func samples(for duration: Duration) async throws -> ([Observation.Sample], notificationRate: Double) {
            let first = try await MetricsSnapshot.take(from: service)
            var last = first
            var samples: [Observation.Sample] = []
            while last.takenAt - first.takenAt < duration {
                try await Task.sleep(for: sampleInterval)
                last = try await MetricsSnapshot.take(from: service)
                let due = (last.acceptedEvents - first.acceptedEvents) * notificationsPerEvent
                let waiting = due - (last.delivered - first.delivered)
                samples.append(
                    Observation.Sample(
                        time: (last.takenAt - first.takenAt) / .seconds(1),
                        lag: max(0, waiting) / (rate * notificationsPerEvent),
                        queueAge: last.queueAge
                    )
                )
            }
            let seconds = (last.takenAt - first.takenAt) / .seconds(1)
            return (samples, (last.delivered - first.delivered) / seconds)
        }
    }
}
