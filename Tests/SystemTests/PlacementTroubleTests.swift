import CarillonCore
import Foundation
import NIOHTTP1
import Postgres
import Testing

extension Services {
    /// A replica with a list of yesterday.
    @Suite struct PlacementTroubleTests {
        private let stage = PlacementStage()

        private func move(_ network: TestNetwork, to target: String, on service: RunningService) async throws
            -> TestClient.Answer
        {
            try await stage.call(service, .POST, "/v1/networks/\(network.id)/move", ["to": .string(target)])
        }

        private func step(of network: TestNetwork, on service: RunningService) async throws -> String? {
            try await stage.call(service, .GET, "/v1/networks/\(network.id)/move").json["step"]?.text
        }

        @Test
        func `a replica with an old list, which cannot ask for another, accepts nothing for a network that has left`()
            async throws
        {
            try await stage.migrated()
            let service = try await stage.start()
            let network = try await stage.network("moving", in: "p2", on: service)
            try await stage.notify(network, "moving-1", on: service)
            let list = stage.scratch.path("data") + "/placements.json"
            try await eventually("the list being written") {
                try String(contentsOfFile: list, encoding: .utf8).contains(#""moving""#)
            }
            let old = try String(contentsOfFile: list, encoding: .utf8)
            #expect(try await move(network, to: "default", on: service).status == 202)
            try await eventually(within: .seconds(90), "the network being in its new placement") {
                try await step(of: network, on: service) == "purging"
            }
            try await stage.home.withSession { session in
                try session.script("UPDATE network_moves SET remove_at = now()")
            }
            try await eventually(within: .seconds(90), "nothing of it being left") {
                try await step(of: network, on: service) == "done"
            }
            #expect(try await service.stop() == 0)
            try old.write(toFile: list, atomically: true, encoding: .utf8)
            await stage.home.stop()

            let replica = try await RunningService.start(in: stage.scratch, environment: stage.environment)
            let posted = try await network.on(replica).post(TestEvents.messageSent("early"))
            #expect(posted.status == 503, "\(posted.text)")
            try await stage.home.start()
            try await eventually("an event being accepted") {
                try await network.on(replica).post(TestEvents.messageSent("early")).status == 202
            }
            try await stage.notify(network.on(replica), "moving-2", on: replica)
            #expect(try await replica.stop() == 0)
            await stage.stop()
        }
    }
}
