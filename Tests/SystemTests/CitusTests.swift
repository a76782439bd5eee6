import CarillonCore
import CarillonSimulator
import Foundation
import NIOHTTP1
import Postgres
import Testing

extension Services {
    /// Placements whose tables Citus keeps on servers of its choice.
    // Where the extension is not installed, as on most machines, these are skipped.
    @Suite(.enabled(if: CitusCluster.isInstalled, "Citus is not installed"))
    struct CitusTests {
        private static let patience = Duration.seconds(120)
        private static let members = ["bob", "carol"]

        private let scratch = Scratch()
        private let citus = CitusCluster()

        /// Home beside the placement `p1`, by the ways that are given.
        private func environment(_ url: String? = nil) -> [String: String] {
            [
                "CARILLON_DATABASE_URL": citus.coordinator.url("public"),
                "CARILLON_PLACEMENTS": "p1=\(url ?? citus.coordinator.url("p1"))",
                "CARILLON_OPERATOR_TOKEN": String(repeating: "o", count: 32),
                "CARILLON_MASTER_KEY": Data(repeating: 1, count: 32).base64EncodedString(),
            ]
        }

        private func run(
            _ words: [String],
            _ environment: [String: String]
        ) async throws -> (status: Int32, output: String, errors: String) {
            let program = try Program(words, environment: environment, scratch: scratch)
            return (try await program.exitStatus(within: Self.patience), program.outputText, program.errorText)
        }

        /// Starts a cluster whose placement is distributed, and a service that uses it.
        private func start(_ more: [String: String] = [:]) async throws -> RunningService {
            try await citus.start()
            try await citus.coordinator.run("CREATE SCHEMA p1")
            let ways = environment()
            for words in [["migrate"], ["placements", "distribute", "p1"]] {
                let (status, _, errors) = try await run(words, ways)
                try #require(status == 0, "\(errors)")
            }
            let service = try await RunningService.start(in: scratch, environment: ways.merging(more) { $1 })
            try await eventually(within: Self.patience, "both placements being ready") {
                let health = try await service.management.send(.GET, "/health/ready")
                return health.status == 200 && health.json["placements"] == nil
            }
            return service
        }

        /// Makes a network in the placement, with members who have a device each.
        private func network(_ id: String, in placement: String, on service: RunningService) async throws -> TestNetwork
        {
            let network = try await service.network(id, in: placement)
            try await network.addMembers(Self.members)
            return network
        }

        @Test func `distributing says what lacks, does what is not done, and looks again when it is`() async throws {
            try await citus.start()
            try await citus.coordinator.run(
                "CREATE ROLE app LOGIN",
                "CREATE SCHEMA p1 AUTHORIZATION app"
            )
            let ways = environment(citus.coordinator.url("p1", as: "app"))
            let distribute = ["placements", "distribute", "p1"]
            let early = try await run(distribute, ways)
            #expect(early.status == 1 && early.errors.contains("run carillon migrate"), "\(early.errors)")
            let migrated = try await run(["migrate"], ways)
            try #require(migrated.status == 0, "\(migrated.errors)")
            #expect(!(try await run(["doctor"], ways)).output.contains("Citus"))
            let home = try await run(["placements", "distribute", "default"], ways)
            #expect(home.status == 1 && home.errors.contains("the schema public"), "\(home.errors)")
            let powerless = try await run(distribute, ways)
            #expect(powerless.status == 1 && powerless.errors.contains("superuser"), "\(powerless.errors)")

            let mighty = distribute + ["--coordinator", citus.coordinator.url("public")]
            let done = try await run(mighty, ways)
            #expect(done.status == 0 && done.output.contains("is distributed now"), "\(done)")
            let again = try await run(distribute, ways)
            #expect(again.status == 0 && again.output.contains("is distributed, and its settings"), "\(again)")
            let looked = try await run(["doctor"], ways).output
            for words in ["ok    p1: Citus", "ok    p1: settings there", "ok    p1: keys", "ok    p1: partitions"] {
                #expect(looked.contains(words), "\(looked)")
            }
            // What was cut off, or taken back, is done.
            try await citus.coordinator.run("ALTER ROLE app IN DATABASE carillon RESET enable_seqscan")
            let lacking = try await run(["doctor"], ways)
            #expect(lacking.status == 1 && lacking.output.contains("FAIL  p1: settings there"), "\(lacking.output)")
            let mended = try await run(mighty, ways)
            #expect(mended.status == 0 && mended.output.contains("enable_seqscan"), "\(mended)")

            // A worker hands nothing on, and makes no tables.
            let worker = try await citus.worker(of: "p1")
            let direct = environment(worker.url("p1", as: "app"))
            let misled = try await run(distribute, direct)
            #expect(misled.status == 1 && misled.errors.contains("coordinator"), "\(misled.errors)")
            #expect(try await run(["doctor"], direct).output.contains("FAIL  p1: partitions"))
            let way = "coordinator=\(citus.coordinator.address)&"
            let named = environment(worker.url("p1", as: "app", way))
            #expect(try await run(distribute, named).status == 0)
            #expect(try await run(["doctor"], named).output.contains("ok    p1: partitions"))
            await citus.stop()
        }

        @Test func `everything works where Citus keeps the tables`() async throws {
            try await withSimulator { simulator in
                let service = try await start(simulator.environment)
                let network = try await network("acme", in: "p1", on: service)
                try await expectMainJob(network, service)
                try await expectSwitches(network, service)
                try await network.send(.PUT, "/users/bob", ["displayName": "Bob the Builder"])
                let found = try await network.send(.GET, "/users?query=build")
                #expect(found["items"]?.elements.map { $0["id"]?.text } == ["bob"])
                try await network.send(.PUT, "/tags/beta/users/bob")
                let tagged: JSONValue = ["to": ["tags": ["beta"]], "title": "Beta", "body": "Hello"]
                let posted = try #require(try await network.send(.POST, "/notifications", tagged)["id"]?.text)
                _ = try await network.done(posted)
                #expect(service.logLines.filter { $0.eventID == posted }.map(\.deviceID) == ["bob-device"])
                let partitions = try await citus.coordinator.all(
                    """
                    SELECT count(*) FROM citus_shards
                    WHERE table_name::text LIKE 'p1.events_2%' OR table_name::text LIKE 'p1.relayed_2%'
                    """,
                    as: Int.self
                )
                #expect((partitions.first ?? 0) >= 2 * 4)
                try await expectFace(network, service, simulator)
                #expect(try await service.stop() == 0)
            }
            await citus.stop()
        }

        @Test func `a schema is moved under load, and nothing is lost or comes twice`() async throws {
            let receiver = WebhookReceiver(answering: [])
            try await receiver.whileRunning { url in
                let service = try await start()
                let network = try await network("acme", in: "p1", on: service)
                _ = try await network.addEndpoint(url)
                try await network.begin(receiver)
                let former = try await citus.worker(of: "p1").host
                let load = Load()
                try await load.run(on: network, connections: 3) {
                    try await citus.move("p1")
                    try await Task.sleep(for: .seconds(1))
                }
                #expect(try await citus.worker(of: "p1").host != former)
                let events = load.acknowledged
                #expect(!events.isEmpty)
                try await expectDelivery(of: events, to: Self.members, from: [service], within: Self.patience)
                #expect(duplicates(from: [service]) == 0)
                try await eventually(within: Self.patience, "the endpoint being told of all") {
                    events.isSubset(of: receiver.requests.map(\.id))
                }
                let told = receiver.requests.map(\.id).filter(events.contains)
                #expect(told.count == events.count)
                // Who is new is known where the tables are now.
                try await expectMainJob(network, service, "moved")
                try await expectSwitches(network, service, "moved")
                #expect(try await service.stop() == 0)
            }
            await citus.stop()
        }

        @Test func `a server that is killed is missed by its own networks alone, and what was accepted is sent`()
            async throws
        {
            let service = try await start()
            let near = try await network("near", in: "default", on: service)
            let far = try await network("far", in: "p1", on: service)
            let worker = try await citus.worker(of: "p1")
            let others = Load()
            let load = Load()
            try await load.run(on: far, connections: 2) {
                try await eventually(within: Self.patience, "a load") { load.acknowledged.count > 20 }
                try worker.kill()
                try await eventually(within: Self.patience, "the network being refused") {
                    try await far.post(TestEvents.messageSent("lost")).status == 503
                }
                try await others.run(on: near, connections: 2) {
                    try await eventually(within: Self.patience, "others' events") { others.acknowledged.count > 20 }
                }
                try await worker.start()
                let before = load.acknowledged.count
                try await eventually(within: Self.patience, "events being accepted again") {
                    load.acknowledged.count > before + 20
                }
            }
            #expect(others.refused == 0)
            try await expectDelivery(
                of: load.acknowledged.union(others.acknowledged),
                to: Self.members,
                from: [service],
                within: Self.patience
            )
            #expect(try await service.stop() == 0)
            await citus.stop()
        }

        /// A homeserver's notification reaches a phone that nobody has heard of.
        private func expectFace(
            _ network: TestNetwork,
            _ service: RunningService,
            _ simulator: Simulator
        ) async throws {
            try await network.storeAPNsCredential(simulator.apnsKey)
            let settings: JSONValue = ["provider": "apns", "appId": .string(TestNetwork.app)]
            let bound = try await service.call(.PUT, "/v1/networks/\(network.id)/faces/matrix/ios", settings)
            try #require(bound.status == 201, "\(bound.text)")
            let token = SimulatedToken.apns()
            let notification: JSONValue = [
                "event_id": "$1", "room_id": "!r:x", "devices": [["app_id": "ios", "pushkey": .string(token)]],
            ]
            let body: JSONValue = ["notification": notification]
            let answer = try await service.open.send(.POST, "/_matrix/push/v1/notify", body: body.serialized)
            #expect(answer.status == 200 && answer.json["rejected"] == [], "\(answer.text)")
            try await eventually(within: Self.patience, "the phone being told") {
                simulator.accepted(for: token).count == 1
            }
        }

        /// People are notified who were members when an event was accepted.
        private func expectMainJob(
            _ network: TestNetwork,
            _ service: RunningService,
            _ mark: String = "first"
        ) async throws {
            let channel = TestEvents.channelCreated("\(mark)-created", members: Self.members + ["dave-\(mark)"])
            try await network.addLogDevice("dave-\(mark)-device", of: "dave-\(mark)")
            _ = try await network.accept(channel)
            let event = try await network.accept(TestEvents.messageSent("\(mark)-message"))
            let state = try await network.done(event, within: Self.patience)
            #expect((state["recipients"]?["notified"]?.integer ?? 0) >= 3)
            try await expectDelivery(
                of: [event],
                to: Self.members + ["dave-\(mark)"],
                from: [service],
                within: Self.patience
            )
        }

        /// Each of the three switches is obeyed by the next event, and so is a device that goes.
        private func expectSwitches(
            _ network: TestNetwork,
            _ service: RunningService,
            _ mark: String = "first"
        ) async throws {
            func reached(_ name: String) async throws -> Set<String> {
                let event = try await network.accept(TestEvents.messageSent("\(mark)-\(name)"))
                _ = try await network.done(event, within: Self.patience)
                return Set(service.logLines.filter { $0.eventID == event }.map(\.deviceID))
                    .intersection(Self.members.map { "\($0)-device" })
            }
            let paths = [
                ("/users/carol/notifications", ["bob-device"]),
                ("/users/carol/channels/general/notifications", ["bob-device"]), ("/notifications", []),
            ]
            for (path, expected) in paths {
                try await network.send(.PUT, path, ["enabled": false])
                #expect(try await reached("without\(path)") == Set(expected), "\(path)")
                try await network.send(.PUT, path, ["enabled": true])
                #expect(try await reached("with\(path)") == ["bob-device", "carol-device"], "\(path)")
            }
            try await network.send(.DELETE, "/devices/carol-device")
            #expect(try await reached("without-device") == ["bob-device"])
            try await network.addLogDevice("carol-device", of: "carol")
            #expect(try await reached("with-device") == ["bob-device", "carol-device"])
        }
    }
}
