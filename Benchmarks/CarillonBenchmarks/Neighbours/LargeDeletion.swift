import NIOCore
import Postgres
import Synchronization

/// A network that deletes a channel with very many members.
final class LargeDeletion: Neighbour {
    private static let members = 200_000
    private static let limit = TimeAmount.seconds(60)

    private let took = Mutex((seconds: 0.0, status: 0))

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        let count = scene.scaled(Self.members)
        let shape = DirectoryLines(userCount: count, channelCount: 1, membersPerChannel: count)
        _ = try await network.fill(with: shape, in: scene.service)
        try await scene.cluster.script("VACUUM ANALYZE")
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        let client = HTTPClient(port: scene.service.port, bearer: network.apiKey)
        // So that there is something to measure before it is over.
        try await Task.sleep(for: .seconds(3))
        let path = "\(network.path)/channels/\(DirectoryLines.channelID(0))"
        // Not cancelled when others have been measured: how long it takes is a figure, too.
        let deletion = Task {
            let start = ContinuousClock.now
            let answer = try await client.send(HTTPRequest(method: "DELETE", path: path), limit: Self.limit)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            self.took.withLock { $0 = (seconds, answer.status) }
        }
        try await deletion.value
    }

    func figures(_ scene: Scene) async throws -> [Figure] {
        let deadline = ContinuousClock.now + Duration(Self.limit)
        while took.withLock(\.status) == 0, .now < deadline { try await Task.sleep(for: .milliseconds(20)) }
        let (seconds, status) = took.withLock(\.self)
        return [
            Figure("DELETE is answered with \(status) after", seconds * 1000, "ms", goal: .below(500))
        ]
    }
}
