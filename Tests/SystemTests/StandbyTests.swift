import CarillonCore
import NIOHTTP1
import Postgres
import Testing

extension Services {
    /// A service that is told to use a server which follows another one.
    @Suite struct StandbyTests {
        @Test
        func `behind a standby it is not ready, says why, and works by itself once that is promoted`() async throws {
            let scratch = Scratch()
            let server = try await DatabaseServer.migrated(in: scratch)
            let former = try await RunningService.start(in: scratch, environment: server.environment)
            let network = try await TestNetwork(on: former)
            try await network.addMembers(["bob"])
            let standby = try await Standby(of: try #require(server.environment["CARILLON_DATABASE_URL"]), in: scratch)
            #expect(try await former.stop() == 0)

            // By itself it takes no connection that refuses writes; told to take any, it finds out from what it is answered.
            let environments = ["", " target_session_attrs=any"].map { attributes in
                server.environment.merging(["CARILLON_DATABASE_URL": standby.connectionString + attributes]) { $1 }
            }
            var services: [RunningService] = []
            for (number, environment) in environments.enumerated() {
                let doctor = try Program(["doctor"], environment: environment, scratch: scratch)
                #expect(try await doctor.exitStatus() == 1)
                #expect(doctor.outputText.contains("the server is a standby"), "\(doctor.outputText)")

                let data = ["CARILLON_DATA_DIR": scratch.path("data-\(number)")]
                let service = try await RunningService.start(
                    in: scratch,
                    environment: environment.merging(data) { $1 },
                    isReady: false
                )
                services.append(service)
                try await eventually("the reason") {
                    let answer = try await service.management.send(.GET, "/health/ready")
                    return answer.status == 503 && answer.text.contains("the server is a standby")
                }
                let refused = try await network.on(service).post(TestEvents.messageSent("refused-\(number)"))
                #expect(refused.status == 503, "\(refused.text)")
                #expect(refused.headers.first(name: "retry-after") != nil)
            }

            await server.stop()
            try await standby.promote()
            for (number, service) in services.enumerated() {
                try await eventually("readiness") {
                    try await service.management.send(.GET, "/health/ready").status == 200
                }
                let accepted = try await network.on(service).post(TestEvents.messageSent("accepted-\(number)"))
                #expect(accepted.status == 202, "\(accepted.text)")
                #expect(try await service.stop() == 0)
            }
            await standby.stop()
        }

        @Test
        func `a placement behind a standby is missed by its networks alone, and has all it had when that is promoted`()
            async throws
        {
            let stage = PlacementStage()
            let members = ["bob", "carl"]
            try await stage.migrated()
            let former = try await stage.start()
            let near = try await former.network("near", in: "p1")
            let far = try await former.network("far", in: "p2")
            try await far.addMembers(members)
            let load = Load()
            try await load.run(on: far, connections: 4) {
                try await eventually("events being accepted") { load.acknowledged.count > 20 }
                former.program.kill()
            }
            let last = try #require(load.acknowledged.max())
            // What it had in hand is anybody's from now on.
            try await stage.away.script("UPDATE inbox SET run_at = now(); UPDATE deliveries SET run_at = now()")
            let standby = try await Standby(
                of: try #require(stage.away.environment["CARILLON_DATABASE_URL"]),
                in: stage.scratch
            )

            var services: [RunningService] = []
            for (number, attributes) in ["", "&target_session_attrs=any"].enumerated() {
                let data = ["CARILLON_DATA_DIR": stage.scratch.path("data-\(number)")]
                let environment = stage.environment(away: standby.url + attributes).merging(data) { $1 }
                try await expectDoctor(environment, stage)
                let service = try await RunningService.start(in: stage.scratch, environment: environment)
                services.append(service)
                try await expectAbsence(of: far.on(service), beside: near.on(service), stage, on: service)
                try await service.notify(near.on(service), "near-\(number)")
            }

            await stage.away.stop()
            try await standby.promote()
            var accepted = load.acknowledged
            for (number, service) in services.enumerated() {
                try await stage.awaitAll(on: service)
                accepted.insert(try await far.on(service).accept(TestEvents.messageSent("promoted-\(number)")))
                // What was accepted before is known.
                _ = try await far.on(service).done(last)
            }
            try await expectDelivery(of: accepted, to: members, from: [former] + services, within: .seconds(90))
            for service in services { #expect(try await service.stop() == 0) }
            await standby.stop()
            await stage.stop()
        }

        /// What is said of a placement behind a standby before any service uses it.
        private func expectDoctor(_ environment: [String: String], _ stage: PlacementStage) async throws {
            let doctor = try Program(["doctor"], environment: environment, scratch: stage.scratch)
            #expect(try await doctor.exitStatus() == 1)
            let isSaid = doctor.outputText.split(separator: "\n").contains { line in
                line.contains("p2: ") && line.contains("the server is a standby")
            }
            #expect(isSaid, "\(doctor.outputText)")
        }

        /// What a service says of a network in a placement behind a standby, and of moves of networks to it or from it.
        private func expectAbsence(
            of far: TestNetwork,
            beside near: TestNetwork,
            _ stage: PlacementStage,
            on service: RunningService
        ) async throws {
            try await eventually("health that says so") {
                let health = try await service.management.send(.GET, "/health/ready")
                guard health.status == 200, let reason = health.json["placements"]?["p2"]?.text else { return false }
                return reason.contains("the server is a standby")
                    && health.json["warnings"]?.elements.contains { $0.text == "placement p2: \(reason)" } == true
            }
            let listed = try await service.call(.GET, "/v1/placements").json.elements
            let place = listed.first { $0["name"]?.text == "p2" }
            #expect(place?["ready"] == .bool(false))
            #expect(place?["reason"]?.text?.contains("the server is a standby") == true, "\(listed)")

            let settings = "/v1/networks/\(far.id)/notifications"
            for refused in [
                try await far.post(TestEvents.messageSent("refused")),
                try await service.call(.PUT, settings, ["enabled": false]),
            ] {
                #expect(refused.status == 503, "\(refused.text)")
                #expect(refused.json["type"]?.text?.hasSuffix("placement-unavailable") == true, "\(refused.text)")
                #expect(refused.headers.first(name: "retry-after") == "2")
            }
            for (network, target) in [(far, "p1"), (near, "p2")] {
                let path = "/v1/networks/\(network.id)/move"
                let unmoved = try await service.call(.POST, path, ["to": .string(target)])
                #expect(unmoved.status == 503 && unmoved.text.contains("the server is a standby"), "\(unmoved.text)")
            }
        }
    }
}
