import Postgres

/// A user with very many devices, who gets messages.
struct LargeUser: Neighbour {
    private static let devices = 200_000
    private static let interval = Duration.seconds(5)

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        let devices = repeatElement(#""provider":"log""#, count: scene.scaled(Self.devices))
        try await network.importMember(devices: devices, in: scene.service)
        try await scene.cluster.script("VACUUM ANALYZE")
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        try await Poster(network: network, in: scene).keepPosting("message", every: Self.interval)
    }
}
