import NIOCore
import Postgres

/// A network whose admin reads page after page over many connections.
struct PageReaders: Neighbour {
    private static let shape = DirectoryLines(
        userCount: 20_000,
        channelCount: 200,
        membersPerChannel: 1_000,
        device: .log
    )
    private static let pages = [
        "users?limit=1000", "channels?limit=1000", "channels/\(DirectoryLines.channelID(0))/members?limit=1000",
        "users?query=User&limit=1000", "events?limit=1000", "providers",
    ]

    /// Over how many connections.
    let connections: Int

    private let asking = Asking()

    func prepare(_ network: TestNetwork, _ scene: Scene) async throws {
        _ = try await network.fill(with: Self.shape, in: scene.service)
        try await scene.cluster.script("VACUUM ANALYZE")
    }

    func misbehave(_ network: TestNetwork, _ scene: Scene) async throws {
        await asking.keep(connections, of: scene.service.port, bearer: network.apiKey) { number in
            HTTPRequest(path: "\(network.path)/\(Self.pages[number % Self.pages.count])")
        }
    }

    func figures(_ scene: Scene) async throws -> [Figure] { asking.figures }
}
