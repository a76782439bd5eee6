import Postgres

/// One kind of load, with what was measured of it.
struct IngestScenario: Sendable {
    /// What it is called in the table.
    let name: String

    private let networkID: String
    private let network: TestNetwork
    private let shape: DirectoryLines
    private let style: SignedEvents.Style
    private var results: [LoadResult] = []
    private var drains: [Double] = []
    private var processorTimes: [ProcessorTime] = []
    private let warmUpRun = "warm-up"

    private static let warmUpDuration = Duration.seconds(2)

    /// Makes a network and fills its directory.
    init(
        _ name: String,
        network networkID: String,
        _ shape: DirectoryLines,
        _ style: SignedEvents.Style,
        in service: ServiceUnderTest
    ) async throws {
        self.name = name
        self.networkID = networkID
        self.shape = shape
        self.style = style
        network = try await TestNetwork.make(networkID, in: service)
        _ = try await network.fill(with: shape, in: service)
    }

    /// A short load that is not counted.
    func warmUp(_ cluster: Cluster, _ service: ServiceUnderTest) async throws {
        let events = SignedEvents(to: network, in: shape, style: style, run: warmUpRun)
        _ = try await LoadGenerator(port: service.port, duration: Self.warmUpDuration).post(events)
        _ = try await cluster.waitUntilDone()
    }

    /// One load, and the wait until the service has nothing left to do.
    mutating func load(_ duration: Duration, _ cluster: Cluster, _ service: ServiceUnderTest) async throws {
        let events = SignedEvents(to: network, in: shape, style: style, run: "round-\(results.count + 1)")
        let before = ProcessorTime.now(service, cluster)
        results.append(try await LoadGenerator(port: service.port, duration: duration).post(events))
        processorTimes.append(ProcessorTime.now(service, cluster) - before)
        drains.append(try await cluster.waitUntilDone())
    }

    /// Counts what is in the database.
    /// - Throws: ``BenchmarkFailure`` unless it is what was accepted, and everything came out that had to.
    func verify(on cluster: Cluster) async throws {
        let accepted = results.reduce(0) { $0 + $1.accepted }
        let stored = try await cluster.count(
            """
            SELECT count(*) FROM event_keys
            WHERE network_id = \(networkID) AND source_id NOT LIKE \(warmUpRun + "-%")
            """
        )
        let done = try await cluster.count(
            """
            SELECT count(*) FROM events
            WHERE network_id = \(networkID) AND failure IS NULL AND source_id NOT LIKE \(warmUpRun + "-%")
            """
        )
        guard stored == accepted, done == accepted else {
            throw BenchmarkFailure("\(name): \(accepted) events were accepted, \(stored) are stored, \(done) are done")
        }
        guard shape.device != nil else { return }
        let delivered = try await cluster.count(
            """
            SELECT coalesce(sum(o.delivered), 0)::bigint FROM outcomes o JOIN events e USING (network_id, event_id)
            WHERE o.network_id = \(networkID) AND e.source_id NOT LIKE \(warmUpRun + "-%")
            """
        )
        let expected = accepted * (shape.membersPerChannel - 1)
        guard delivered == expected else {
            throw BenchmarkFailure("\(name): \(delivered) of \(expected) notifications were delivered")
        }
    }

    /// What was measured.
    ///
    /// - Parameters:
    ///   - commits: The yardstick.
    ///   - areGoals: Whether the promises are about this scenario.
    /// - Returns: The figures.
    func figures(commits: Double, areGoals: Bool) -> [Figure] {
        let rates = Series(results.map(\.rate))
        let ratios = Series(results.map { $0.rate / commits })
        let processorTime = { (share: KeyPath<ProcessorTime, Double>) in
            Series(zip(processorTimes, results).map { $0[keyPath: share] / Double(max(1, $1.accepted)) * 1e6 })
        }
        let refused = results.reduce(0) { $0 + $1.refused }
        return [
            Figure("\(name): accepted", rates, "/s"),
            Figure("\(name): accepted ÷ commits", ratios, goal: areGoals ? .atLeast(0.6) : nil),
            Figure("\(name): p50", Series(results.map { $0.latency.percentile(0.5) }), "ms"),
            Figure(
                "\(name): p99",
                Series(results.map { $0.latency.percentile(0.99) }),
                "ms",
                goal: areGoals ? .below(25) : nil
            ),
            Figure("\(name): done after the load", Series(drains), "s"),
            Figure("\(name): refused with 503", count: refused),
            Figure("\(name): processor time, generator", processorTime(\.generator), "µs"),
            Figure("\(name): processor time, service", processorTime(\.service), "µs"),
            Figure("\(name): processor time, PostgreSQL", processorTime(\.postgres), "µs"),
        ]
    }
}
