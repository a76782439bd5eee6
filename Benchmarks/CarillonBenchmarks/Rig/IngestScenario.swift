import Postgres

/// One kind of load, with what was measured of it.
struct IngestScenario: Sendable {
    /// What is posted.
    enum Body: Sendable {
        /// Carillon's own events.
        case native(SignedEvents.Style)
        /// Another chat backend's webhooks.
        case foreign(ForeignMessages.Sender)
    }

    /// What it is called in the table.
    let name: String
    /// Over how many connections it is posted.
    var connections = 64
    /// How many native events each request has.
    var eventsPerRequest = 1
    /// Whether processor time is counted until everything is done, and not only while the load lasts.
    var countsUntilDone = false

    /// The network that the load goes to.
    let network: TestNetwork
    private let networkID: String
    private let shape: DirectoryLines
    private let body: Body
    private var warmUp: LoadResult?
    private var results: [LoadResult] = []
    /// How long after each load everything was done, in seconds.
    private(set) var drains: [Double] = []
    private var processorTimes: [ProcessorTime] = []

    /// Makes a network and fills its directory.
    init(
        _ name: String,
        network networkID: String,
        _ shape: DirectoryLines,
        _ body: Body,
        in service: ServiceUnderTest
    ) async throws {
        self.name = name
        self.networkID = networkID
        self.shape = shape
        self.body = body
        network = try await TestNetwork.make(networkID, in: service)
        _ = try await network.fill(with: shape, in: service)
        if case .foreign(let sender) = body { try await ForeignMessages.enable(sender, of: network, in: service) }
    }

    private func source(run: String) -> any LoadSource {
        switch body {
        case .native(let style):
            SignedEvents(to: network, in: shape, style: style, perRequest: eventsPerRequest, run: run)
        case .foreign(let sender): ForeignMessages(of: sender, to: network, in: shape, run: run)
        }
    }

    private func generator(_ service: ServiceUnderTest, _ duration: Duration) -> LoadGenerator {
        LoadGenerator(port: service.port, connections: connections, duration: duration)
    }

    /// A short load that is not measured.
    mutating func warmUp(
        _ cluster: Cluster,
        _ service: ServiceUnderTest,
        for duration: Duration = .seconds(2)
    ) async throws {
        let events = source(run: "warm-up")
        warmUp = try await generator(service, duration).post(events)
        _ = try await cluster.waitUntilDone()
    }

    /// One load, and the wait until the service has nothing left to do. `atItsEnd` is called between them.
    mutating func load(
        _ duration: Duration,
        _ cluster: Cluster,
        _ service: ServiceUnderTest,
        atItsEnd: () -> Void = {}
    ) async throws {
        let events = source(run: "round-\(results.count + 1)")
        let before = ProcessorTime.now(service, cluster)
        results.append(try await generator(service, duration).post(events))
        atItsEnd()
        let loaded = ProcessorTime.now(service, cluster)
        drains.append(try await cluster.waitUntilDone())
        processorTimes.append((countsUntilDone ? ProcessorTime.now(service, cluster) : loaded) - before)
    }

    /// Whether it is another chat backend's webhooks.
    var isForeign: Bool {
        if case .foreign = body { true } else { false }
    }

    /// Accepted events a second, of each load.
    var rates: [Double] { results.map { $0.rate * Double(eventsPerRequest) } }

    /// How many events each load had accepted.
    var accepted: [Int] { results.map { $0.accepted * eventsPerRequest } }

    /// The latency in milliseconds that half of each load's requests did not exceed.
    var medianLatencies: [Double] { results.map { $0.latency.percentile(0.5) } }

    /// How many requests all loads had answered with 503.
    var refused: Int { results.reduce(0) { $0 + $1.refused } }

    /// Checks that nothing was lost and everything came out that had to; answers what is stored.
    func verify(on cluster: Cluster) async throws -> StoredEvents {
        let all = [warmUp].compactMap(\.self) + results
        return try await StoredEvents(
            of: networkID,
            accepted: all.reduce(0) { $0 + $1.accepted } * eventsPerRequest,
            refused: all.reduce(0) { $0 + $1.refused } * eventsPerRequest,
            notificationsPerEvent: shape.device == nil ? 0 : shape.membersPerChannel - 1,
            in: cluster
        )
    }

    /// The processor time of each accepted event, of each load, in microseconds.
    func processorTimes(_ share: KeyPath<ProcessorTime, Double>) -> [Double] {
        zip(processorTimes, accepted).map { $0[keyPath: share] / Double(max(1, $1)) * 1e6 }
    }

    /// The same as a series.
    func processorTime(_ share: KeyPath<ProcessorTime, Double>) -> Series { Series(processorTimes(share)) }

    /// What was measured beside the yardstick; `areGoals` says whether the promises are about this scenario.
    func figures(commits: Double, areGoals: Bool) -> [Figure] {
        let ratios = Series(rates.map { $0 / commits })
        return [
            Figure("\(name): accepted", Series(rates), "/s"),
            Figure("\(name): accepted ÷ commits", ratios, goal: areGoals ? .atLeast(0.6) : nil),
            Figure("\(name): p50", Series(medianLatencies), "ms"),
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
