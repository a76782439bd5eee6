import CarillonCore
import EmbeddedPostgres
import Foundation
import Logging
import NIOHTTP1
import Testing

extension Services {
    /// Two services on one database: what is changed at one is true at the other.
    @Suite struct ReplicaTests {
        private func withReplicas(_ body: (RunningService, RunningService) async throws -> Void) async throws {
            let scratch = try Scratch()
            let server = EmbeddedCluster(
                configuration: .init(
                    dataDirectory: scratch.path("server"),
                    settings: ["fsync": "off"],
                    throwAwayDirectory: scratch.path
                ),
                logger: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }
            )
            let environment = [
                "CARILLON_DATABASE_URL": try await server.start(),
                "CARILLON_OPERATOR_TOKEN": String(repeating: "o", count: 32),
                "CARILLON_MASTER_KEY": Data(repeating: 1, count: 32).base64EncodedString(),
            ]
            let migrate = try Program(["migrate"], environment: environment, scratch: scratch)
            #expect(try await migrate.exitStatus() == 0, "\(migrate.errorText)")
            let one = try await RunningService.start(in: scratch, environment: environment)
            let two = try await RunningService.start(in: scratch, environment: environment)
            do {
                try await body(one, two)
            } catch {
                await server.stop()
                throw error
            }
            #expect(try await one.stop() == 0)
            #expect(try await two.stop() == 0)
            await server.stop()
        }

        @Test func `a key made at one works at the other at once, and is refused when it is revoked`() async throws {
            try await withReplicas { one, two in
                let network = try await TestNetwork(on: one)
                var delays: [Duration] = []
                // The other one knows the network's keys by now, without the new ones.
                for _ in 0..<5 {
                    try await network.on(two).send(.GET, "/api-keys")
                    let made = try await network.send(.POST, "/api-keys", ["role": "admin"])
                    let key = try #require(made["apiKey"]?.text)
                    let answer = try await two.open.send(.GET, "/v1/networks/acme/users/bob", token: key)
                    #expect(answer.status == 404)
                    let id = try #require(made["id"]?.text)
                    try await network.send(.DELETE, "/api-keys/\(id)")
                    let revoked = ContinuousClock.now
                    try await eventually("the refusal") {
                        try await two.open.send(.GET, "/v1/networks/acme/users/bob", token: key).status == 401
                    }
                    delays.append(ContinuousClock.now - revoked)
                }
                // Without an announcement each takes the two seconds that credentials are remembered.
                let quickest = try #require(delays.min())
                #expect(quickest < .seconds(1), "\(delays)")
            }
        }
    }
}
