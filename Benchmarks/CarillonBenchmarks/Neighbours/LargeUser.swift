import Postgres

/// A user with very many devices, who gets messages.
struct LargeUser: Neighbour {
    private static let devices = 200_000
    private static let interval = Duration.seconds(5)

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        var lines = #"{"channel":{"id":"c"}}"# + "\n" + #"{"user":{"id":"u"}}"# + "\n"
        lines += #"{"member":{"channelId":"c","userId":"u"}}"# + "\n"
        for number in 0..<scene.scaled(Self.devices) {
            lines += #"{"device":{"id":"d-\#(number)","userId":"u","provider":"log"}}"# + "\n"
        }
        _ = try await network.importing(Array(lines.utf8), in: scene.service).expecting(200)
        try await scene.cluster.script("VACUUM ANALYZE")
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let poster = Poster(network: network, in: scene)
        var number = 0
        while !Task.isCancelled {
            number += 1
            try await poster.post("message-\(number)", channel: "c")
            try? await Task.sleep(for: Self.interval)
        }
    }
}
