import Postgres

/// A network that posts as fast as it can.
struct Flood: Neighbour {
    private static let shape = DirectoryLines(
        userCount: 2_000,
        channelCount: 500,
        membersPerChannel: 20,
        device: .log
    )

    /// Over how many connections it posts.
    let connections: Int

    var promise: Promise { Promise(factor: 2, extra: 0.1) }

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        _ = try await network.fill(with: Self.shape, in: scene.service)
        try await scene.cluster.script("VACUUM ANALYZE")
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let events = SignedEvents(to: network, in: Self.shape, run: "flood")
        let count = scene.scaled(connections)
        let load = LoadGenerator(port: scene.service.port, connections: count, duration: .seconds(3600))
        // What the network itself is answered is its own affair.
        _ = try? await load.post(events)
    }
}
