/// A network that imports a large directory while it posts events about the same people.
struct LargeImport: Neighbour {
    private static let users = 100_000
    private static let channels = 300
    private static let membersPerChannel = 1_000

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let shape = shape(scene)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let events = SignedEvents(to: network, in: shape, run: "meanwhile")
                let load = LoadGenerator(
                    port: scene.service.port,
                    connections: 16,
                    pace: .perSecond(200),
                    duration: .seconds(3600)
                )
                // What the network itself is answered is its own affair.
                _ = try? await load.post(events)
            }
            group.addTask {
                let answer = try await network.importing(shape.bytes, in: scene.service)
                scene.cluster.workshop.say("the import was answered with \(answer.status)")
            }
            try await group.waitForAll()
        }
    }

    private func shape(_ scene: Scene) -> DirectoryLines {
        DirectoryLines(
            userCount: scene.scaled(Self.users),
            channelCount: scene.scaled(Self.channels),
            membersPerChannel: min(Self.membersPerChannel, scene.scaled(Self.users))
        )
    }
}
