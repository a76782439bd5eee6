import CarillonCore
import Foundation
import NIOHTTP1
import Postgres
import Testing

extension Crashes {
    /// A service whose connections lead through a pooler that hands out sessions by transaction, and knows nothing of statements' names.
    @Suite(.enabled(if: Pooler.program != nil, "pgbouncer is not installed"))
    struct PoolerTests {
        private static let members = ["bob", "carol", "dave"]

        private let scratch = Scratch()
        private let server: DatabaseServer
        private let direct: String

        init() throws {
            server = DatabaseServer(in: scratch)
            direct = try #require(server.environment["CARILLON_DATABASE_URL"])
        }

        private func environment(through pooler: Pooler, _ more: [String: String] = [:]) -> [String: String] {
            server.environment.merging(["CARILLON_DATABASE_URL": pooler.connectionString]) { $1 }
                .merging(["CARILLON_LISTEN": "127.0.0.1:0", "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0"]) { $1 }
                .merging(more) { $1 }
        }

        /// What it takes to work through this pooler.
        private var remedies: [String: String] {
            ["CARILLON_PREPARED_STATEMENTS": "off", "CARILLON_ANNOUNCEMENTS_URL": direct]
        }

        private func doctor(_ environment: [String: String]) async throws -> (status: Int32, words: String) {
            let program = try Program(["doctor"], environment: environment, scratch: scratch)
            return (try await program.exitStatus(), program.outputText)
        }

        /// Runs the statements that doctor shows.
        private func follow(_ words: String) async throws {
            let statements = words.matches(of: /ALTER ROLE [^;]*;/).map { String($0.output) }
            try #require(!statements.isEmpty, "\(words)")
            try await server.withSession { session in
                for statement in statements { try session.script(.init(trusted: statement)) }
            }
        }

        @Test func `what a pooler takes away is told, with what to do, and then it works`() async throws {
            try await server.start()
            let forgetful = try Pooler(before: direct, in: scratch, ignoresOptions: true)
            try await forgetful.start()
            var pooled = environment(through: forgetful)
            let migration = try Program(["migrate"], environment: pooled, scratch: scratch)
            #expect(try await migration.exitStatus() == 1)
            #expect(migration.errorText.contains("CARILLON_ANNOUNCEMENTS_URL"), "\(migration.errorText)")
            pooled["CARILLON_ANNOUNCEMENTS_URL"] = direct
            let another = try Program(["migrate"], environment: pooled, scratch: scratch)
            #expect(try await another.exitStatus() == 0, "\(another.errorText)")
            let forgotten = try await doctor(pooled)
            #expect(forgotten.status == 1)
            #expect(forgotten.words.contains("FAIL  settings"), "\(forgotten.words)")
            forgetful.kill()

            let pooler = try Pooler(before: direct, in: scratch)
            try await pooler.start()
            let bare = environment(through: pooler)
            let refused = try await doctor(bare)
            #expect(refused.status == 1)
            for words in [
                "ok    pooler", "FAIL  settings", "statement_timeout is 0", "SET enable_seqscan TO 'off';",
                "FAIL  statements", "CARILLON_PREPARED_STATEMENTS=off", "warn  announcements",
                "CARILLON_ANNOUNCEMENTS_URL",
            ] { #expect(refused.words.contains(words), "\(refused.words)") }
            let url = "\(pooler.connectionString) options='-c jit=off'"
            let strict = try await doctor(environment(through: pooler, ["CARILLON_DATABASE_URL": url]))
            #expect(strict.words.contains("gives as options"), "\(strict.words)")

            let service = try await RunningService.start(in: scratch, environment: bare, isReady: false)
            try await expectReason("enable_seqscan", of: service)
            try await follow(refused.words)
            // Its sessions are those of before.
            pooler.kill()
            try await pooler.start()
            try await expectReason("CARILLON_PREPARED_STATEMENTS=off", of: service)
            #expect(service.program.errorText.contains("CARILLON_PREPARED_STATEMENTS=off"))
            #expect(try await service.stop() == 0)

            let well = try await doctor(environment(through: pooler, remedies))
            #expect(well.status == 0, "\(well.words)")
            for words in ["ok    settings", "enable_seqscan off", "ok    statements", "ok    announcements"] {
                #expect(well.words.contains(words), "\(well.words)")
            }
            pooler.kill()
            await server.stop()
        }

        private func expectReason(_ words: String, of service: RunningService) async throws {
            try await eventually("the reason: \(words)") {
                let answer = try await service.management.send(.GET, "/health/ready")
                return answer.status == 503 && answer.text.contains(words)
            }
        }

        @Test func `where each connection has its session, migrations go through it`() async throws {
            try await server.start()
            let pooler = try Pooler(before: direct, in: scratch, mode: "session", ignoresOptions: true)
            try await pooler.start()
            let environment = environment(through: pooler)
            let migration = try Program(["migrate"], environment: environment, scratch: scratch)
            #expect(try await migration.exitStatus() == 0, "\(migration.errorText)")
            let looked = try await doctor(environment).words
            #expect(
                looked.contains("ok    pooler") && looked.contains("gives each connection its session"),
                "\(looked)"
            )
            #expect(!looked.contains("CARILLON_ANNOUNCEMENTS_URL"), "\(looked)")
            pooler.kill()
            await server.stop()
        }

        /// Promises P1 to P3 and P6: what a lost answer leaves in doubt is claimed when its lease runs out.
        @Test func `replicas work through it, and nothing is lost or told twice when it is killed`() async throws {
            try await server.start()
            try await server.migrate()
            let pooler = try Pooler(before: direct, in: scratch)
            try await pooler.start()
            let environment = environment(through: pooler, remedies)
            try await follow(try await doctor(environment).words)
            pooler.kill()
            try await pooler.start()

            let services = [
                try await RunningService.start(in: scratch, environment: environment),
                try await RunningService.start(in: scratch, environment: environment),
            ]
            let network = try await TestNetwork(on: services[0])
            let networks = services.map { network.on($0) }
            try await network.addMembers(Self.members)
            try await expectListeners(services.count)
            try await expectToggles(networks[1])

            let load = Load()
            try await load.run(on: networks) {
                try await eventually("load") { load.acknowledged.count > 100 }
                let refused = load.refused
                pooler.kill()
                try await eventually("refusals") { load.refused > refused }
                try await pooler.start()
                let before = load.acknowledged.count
                try await eventually("load after its return") { load.acknowledged.count > before + 100 }
            }
            let limit = Crashes.patience
            try await expectDelivery(of: load.acknowledged, to: Self.members, from: services, within: limit)
            for id in load.acknowledged {
                let state = try await network.done(id, within: limit)
                #expect(state["deliveries"]?["delivered"]?.integer == Self.members.count)
            }
            #expect(duplicates(from: services) == 0)
            for service in services { #expect(try await service.stop() == 0) }
            pooler.kill()
            await server.stop()
        }

        /// Each replica listens on a connection of its own, in a session that the pooler has not made.
        private func expectListeners(_ count: Int) async throws {
            try await eventually("replicas that listen") {
                try await server.first(
                    "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
                    as: Int.self
                ) == count
            }
        }

        /// What is switched off through one replica is not told by any, and it is again once it is switched on.
        private func expectToggles(_ network: TestNetwork) async throws {
            func notified(_ id: String) async throws -> Int? {
                let event = try await network.accept(TestEvents.messageSent(id))
                return try await network.done(event)["recipients"]?["notified"]?.integer
            }
            #expect(try await notified("before") == Self.members.count)
            try await network.send(.PUT, "/notifications", ["enabled": false])
            #expect(try await notified("silent") == 0)
            try await network.send(.PUT, "/notifications", ["enabled": true])
            #expect(try await notified("after") == Self.members.count)
        }
    }
}
