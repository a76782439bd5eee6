import Postgres

/// The load of all layouts: some networks with a steady rate each.
struct GrowthLoad: Sendable {
    static let networks = 4
    static let eventsPerSecond = 50.0
    static let shape = DirectoryLines(userCount: 200, channelCount: 50, membersPerChannel: 4, device: .log)

    private static let connections = 4
    private static let warmUp = Duration.seconds(3)

    let service: ServiceUnderTest
    let clusters: [Cluster]

    /// Makes the networks, one after the other in the next placement, posts, and waits until all is done.
    func run(for duration: Duration, in layout: PlacementLayout, into stage: inout GrowthStage) async throws {
        var networks: [TestNetwork] = []
        for name in layout.names.dropFirst() { try await service.openPlacement(name) }
        for number in 0..<Self.networks {
            let placement = layout.placements > 1 ? layout.names[number % layout.placements] : nil
            let network = try await TestNetwork.make("growth-\(number)", in: service, placement: placement)
            _ = try await network.fill(with: Self.shape, in: service)
            networks.append(network)
        }
        for cluster in clusters { try await cluster.script("VACUUM ANALYZE") }
        _ = try await post(to: networks, "warm-up", for: Self.warmUp)
        for cluster in clusters { try await cluster.checkpoint() }
        let before = used
        let results = try await post(to: networks, "load", for: duration)
        stage.used = used - before
        stage.accepted = results.reduce(0) { $0 + $1.accepted }
        stage.refused = results.reduce(0) { $0 + $1.refused }
        for cluster in clusters { stage.connections += try await cluster.connections }
    }

    private func post(to networks: [TestNetwork], _ run: String, for duration: Duration) async throws -> [LoadResult] {
        try await withThrowingTaskGroup(of: LoadResult.self) { group in
            for network in networks {
                group.addTask {
                    let load = LoadGenerator(
                        port: service.port,
                        connections: Self.connections,
                        pace: .perSecond(Self.eventsPerSecond),
                        duration: duration
                    )
                    return try await load.post(SignedEvents(to: network, in: Self.shape, run: run))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private var used: ProcessorTime {
        var used = ProcessorTime.now(service, clusters[0])
        for cluster in clusters.dropFirst() { used.postgres += cluster.server?.processorSecondsWithChildren ?? 0 }
        return used
    }
}
