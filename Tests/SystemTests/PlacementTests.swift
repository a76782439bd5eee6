import CarillonCore
import Foundation
import NIOHTTP1
import Postgres
import Testing

extension Services {
    /// Networks in several placements: home, a schema beside it, and a server of its own.
    @Suite struct PlacementTests {
        private let stage = PlacementStage()

        @Test func `networks are made where they are wanted, and all of theirs is kept there alone`() async throws {
            try await stage.migrated()
            let service = try await stage.start()
            let listed = try await service.call(.GET, "/v1/placements").json.elements
            #expect(listed.map { $0["name"]?.text } == ["default", "p1", "p2"])
            #expect(listed.map { $0["state"]?.text } == ["open", "full", "full"])
            #expect(listed.allSatisfy { $0["ready"] == .bool(true) && $0["schema"]?["pending"] == .array([]) })

            func refusal(_ placement: String) async throws -> String {
                let body: JSONValue = ["id": "refused", "placement": .string(placement)]
                let answer = try await service.call(.POST, "/v1/networks", body)
                return "\(answer.status) \(answer.json["type"]?.text?.split(separator: "/").last ?? "")"
            }
            #expect(try await refusal("p1") == "409 placement-full")
            #expect(try await refusal("p9") == "400 invalid-network")
            #expect(try await refusal("P1") == "400 invalid-network")
            #expect(try await service.call(.GET, "/v1/networks/refused").status == 404)
            #expect(try await service.call(.PATCH, "/v1/placements/p9", ["state": "open"]).status == 404)
            #expect(try await service.call(.PATCH, "/v1/placements/p1", ["state": "ajar"]).status == 400)

            let networks = [
                try await TestNetwork("at-home", on: service),
                try await service.network("in-schema", in: "p1"),
                try await service.network("elsewhere", in: "p2"),
            ]
            for network in networks { try await service.notify(network, "\(network.id)-1") }
            let page = try await service.call(.GET, "/v1/networks").json
            #expect(page["items"]?.elements.map { $0["id"]?.text } == ["at-home", "elsewhere", "in-schema"])
            #expect(page["items"]?.elements.map { $0["placement"]?.text } == ["default", "p2", "p1"])
            #expect(page["incomplete"] == nil)
            func rows(_ server: DatabaseServer, _ schema: String) async throws -> [String] {
                try await server.all(
                    .unprepared("SELECT network_id FROM \(identifier: schema).users GROUP BY 1 ORDER BY 1"),
                    as: String.self
                )
            }
            #expect(try await rows(stage.home, "public") == ["at-home"])
            #expect(try await rows(stage.home, "p1") == ["in-schema"])
            #expect(try await rows(stage.away, "public") == ["elsewhere"])
            // They are looked at every few seconds, and a look may take too long on a busy machine.
            try await eventually("metrics of each placement") {
                let metrics = try await service.management.send(.GET, "/metrics").text
                return [
                    #"carillon_placement_ready{placement="p1"} 1"#, #"carillon_placement_networks{placement="p2"} 1"#,
                    #"carillon_postgres_connections{placement="p2",state="idle"}"#,
                ].allSatisfy(metrics.contains)
            }

            // Whose toggles these are, and what was posted, is the network's own wherever it is.
            try await networks[2].send(.PUT, "/notifications", ["enabled": false])
            let silent = try await networks[2].accept(TestEvents.messageSent("silent"))
            _ = try await networks[2].done(silent)
            #expect(!service.logLines.contains { $0.eventID == silent })

            let deleted = try await service.call(.DELETE, "/v1/networks/in-schema")
            #expect(deleted.status == 204)
            #expect(try await service.call(.GET, "/v1/networks/in-schema").status == 404)
            try await expectTools()
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        /// What commands say of placements.
        private func expectTools() async throws {
            let table = try Program(["placements"], environment: stage.environment, scratch: stage.scratch)
            #expect(try await table.exitStatus() == 0, "\(table.errorText)")
            let rows = table.outputText.split(separator: "\n").map {
                $0.split(separator: " ").prefix(3).map(String.init)
            }
            #expect(
                rows == [
                    ["NAME", "STATE", "NETWORKS"], ["default", "open", "1"], ["p1", "open", "0"], ["p2", "open", "1"],
                ]
            )
            let doctor = try Program(["doctor"], environment: stage.environment, scratch: stage.scratch)
            _ = try await doctor.exitStatus()
            #expect(doctor.outputText.contains("p2: migrations"))
            #expect(doctor.outputText.contains("placements"))
            let one = try Program(
                ["migrate", "--placement", "p1"],
                environment: stage.environment,
                scratch: stage.scratch
            )
            #expect(try await one.exitStatus() == 0)
            #expect(one.outputText.contains("placement p1:") && !one.outputText.contains("placement p2:"))
        }

        @Test func `a request that makes a network makes one, and is answered the same when it comes again`()
            async throws
        {
            try await stage.migrated()
            let service = try await stage.start()
            for name in ["p1", "p2"] {
                _ = try await service.call(.PATCH, "/v1/placements/\(name)", ["state": "open"])
            }
            let headers = ["idempotency-key": "once"]
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 1...8 {
                    group.addTask {
                        let answer = try await service.call(.POST, "/v1/networks", ["id": "acme"], headers)
                        #expect(answer.status == 201, "\(answer.text)")
                        return answer.text
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(answers.count == 1, "they hold the same secrets")
            let other = try await service.call(.POST, "/v1/networks", ["id": "other"], headers)
            #expect(other.status == 409 || other.status == 422, "\(other.text)")
            #expect(try await service.call(.GET, "/v1/networks/other").status == 404)
            let again = try await service.call(.POST, "/v1/networks", ["id": "acme"])
            #expect(again.status == 409)
            #expect(try await service.call(.GET, "/v1/networks").json["items"]?.elements.count == 1)
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        @Test func `a name in another system is one network's, whichever placement it is in`() async throws {
            try await stage.migrated()
            let service = try await stage.start()
            let one = try await TestNetwork("one", on: service)
            let two = try await service.network("two", in: "p2")
            func bind(_ network: TestNetwork, _ method: HTTPMethod) async throws -> UInt {
                let path = "/v1/networks/\(network.id)/faces/matrix/com.example.app"
                return try await service.call(method, path, ["provider": "fcm"]).status
            }
            #expect(try await bind(two, .PUT) == 201)
            #expect(try await bind(one, .PUT) == 409)
            #expect(try await bind(two, .PUT) == 200)
            #expect(try await bind(two, .DELETE) == 204)
            #expect(try await bind(one, .PUT) == 201)
            #expect(try await bind(two, .PUT) == 409)
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        @Test func `a placement that is away or hangs is missed by its own networks alone`() async throws {
            try await stage.migrated()
            let service = try await stage.start()
            let near = try await service.network("near", in: "p1")
            let far = try await service.network("far", in: "p2")
            for network in [near, far] { try await service.notify(network, "\(network.id)-1") }
            try await stage.away.whileFrozen {
                try await eventually("health that says so") {
                    let health = try await service.management.send(.GET, "/health/ready")
                    guard health.status == 200, let reason = health.json["placements"]?["p2"]?.text else {
                        return false
                    }
                    return health.json["warnings"]?.elements.contains { $0.text == "placement p2: \(reason)" } == true
                }
                let start = ContinuousClock.now
                let refused = try await far.post(TestEvents.messageSent("lost"))
                #expect(refused.status == 503)
                #expect(refused.json["type"]?.text?.hasSuffix("placement-unavailable") == true, "\(refused.text)")
                #expect(refused.headers.first(name: "retry-after") == "2")
                #expect(ContinuousClock.now - start < .seconds(10))
                try await service.notify(near, "near-2")
                let page = try await service.call(.GET, "/v1/networks")
                #expect(page.json["items"]?.elements.map { $0["id"]?.text } == ["near"], "\(page.text)")
                #expect(page.json["incomplete"] == ["p2"])
            }
            try await eventually("an event being accepted again") {
                try await far.post(TestEvents.messageSent("back")).status == 202
            }
            try await service.notify(far, "far-3")
            #expect(try await service.stop() == 0)
            await stage.stop()
        }

        @Test func `a start does not need home, nor all placements`() async throws {
            try await stage.migrated()
            let first = try await stage.start()
            let near = try await first.network("near", in: "p2")
            try await first.notify(near, "near-1")
            #expect(try await first.stop() == 0)

            await stage.home.stop()
            let second = try await RunningService.start(in: stage.scratch, environment: stage.environment)
            try await second.notify(near.on(second), "near-2")
            let health = try await second.management.send(.GET, "/health/ready")
            #expect(health.status == 200 && health.json["placements"]?["default"] != nil, "\(health.text)")
            let unknown = try await second.call(.GET, "/v1/networks/who")
            #expect(unknown.status == 503, "whether there is such a network only home could tell")
            try await stage.home.start()
            try await eventually("home being known again") {
                try await second.call(.GET, "/v1/networks/who").status == 404
            }
            try stage.home.kill()
            try await second.notify(near.on(second), "near-3")
            let making = try await second.call(.POST, "/v1/networks", ["id": "new", "placement": "p2"])
            #expect(making.status == 503, "\(making.text)")
            try await stage.home.start()
            try await eventually("a network being made") {
                try await second.call(.POST, "/v1/networks", ["id": "new", "placement": "p2"]).status == 201
            }
            #expect(try await second.stop() == 0)
            await stage.stop()
        }

        @Test func `what one replica makes in a placement another finds there, and what is gone it does not`()
            async throws
        {
            try await stage.migrated()
            let one = try await stage.start()
            let two = try await stage.start()
            for number in 1...3 {
                let network = try await one.network("made-\(number)", in: number == 2 ? "p2" : "p1")
                // Asked for before it could be announced: it is looked for.
                let posted = try await network.on(two).post(TestEvents.messageSent("e-\(number)"))
                #expect(posted.status == 202, "\(posted.text)")
                let deleted = try await two.call(.DELETE, "/v1/networks/\(network.id)")
                #expect(deleted.status == 204, "\(deleted.text)")
                try await eventually("the network being gone at the other") {
                    try await network.post(TestEvents.messageSent("late-\(number)")).status == 401
                }
                #expect(try await one.call(.GET, "/v1/networks/\(network.id)").status == 404)
            }
            #expect(try await one.stop() == 0)
            #expect(try await two.stop() == 0)
            await stage.stop()
        }

        @Test func `placements that cannot be what is meant stop the start, or wait, and say so`() async throws {
            try await stage.migrated()
            let first = try await stage.start()
            _ = try await first.network("far", in: "p2")
            #expect(try await first.stop() == 0)

            func serve(_ placements: String?) async throws -> Program {
                var variables = stage.home.environment
                variables["CARILLON_PLACEMENTS"] = placements
                variables.merge([
                    "CARILLON_LISTEN": "127.0.0.1:0", "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0",
                    "CARILLON_DATA_DIR": stage.scratch.path("fresh-\(UUID())"),
                ]) { $1 }
                return try Program(["serve"], environment: variables, scratch: stage.scratch)
            }
            let alone = try await serve(nil)
            #expect(try await alone.exitStatus() != 0)
            #expect(alone.errorText.contains("placement p2"), "\(alone.errorText)")
            let twice = try await serve(
                "p1=\(stage.home.url(schema: "p1")) p2=\(stage.away.url()) p3=\(stage.away.url())"
            )
            #expect(try await twice.exitStatus() != 0)
            #expect(twice.errorText.contains("one database and schema"), "\(twice.errorText)")
            for text in ["p1", "default=postgres://x/y", "P1=postgres://x/y", "p1=postgres://x/y p1=postgres://x/z"] {
                let refused = try await serve(text)
                #expect(try await refused.exitStatus() != 0)
                #expect(refused.errorText.contains("CARILLON_PLACEMENTS"), "\(refused.errorText)")
            }

            // Another database in the place of one that has networks is not used.
            try await stage.home.script("CREATE SCHEMA other")
            let mistaken = stage.home.environment.merging([
                "CARILLON_PLACEMENTS": "p2=\(stage.home.url(schema: "other"))"
            ]) { $1 }
            #expect(try await Program(["migrate"], environment: mistaken, scratch: stage.scratch).exitStatus() == 0)
            let wrong = try await RunningService.start(in: stage.scratch, environment: mistaken)
            try await eventually("the mistake being told") {
                let health = try await wrong.management.send(.GET, "/health/ready")
                return health.json["placements"]?["p2"]?.text?.contains("another database") == true
            }
            #expect(try await wrong.call(.GET, "/v1/networks/far").status == 503)
            #expect(try await wrong.stop() == 0)

            // One that is not migrated is waited for, and a network whose placement has no URL here is said to be unavailable.
            let variables = stage.home.environment.merging([
                "CARILLON_PLACEMENTS": "p1=\(stage.home.url(schema: "nothing"))"
            ]) {
                $1
            }
            let service = try await RunningService.start(in: stage.scratch, environment: variables)
            let health = try await service.management.send(.GET, "/health/ready")
            #expect(health.status == 200, "\(health.text)")
            #expect(health.json["placements"]?["p1"] != nil, "\(health.text)")
            #expect(health.json["warnings"]?.elements.contains { $0.text?.contains("1 in p2") == true } == true)
            let far = try await service.call(.GET, "/v1/networks/far")
            #expect(far.status == 503 && far.text.contains("p2"), "\(far.text)")
            #expect(try await service.stop() == 0)
            await stage.stop()
        }
    }
}
