import CarillonCore
import Foundation
import NIOHTTP1
import Postgres
import Testing

extension Services {
    /// A service on a PostgreSQL that is not its own.
    @Suite struct DatabaseServerTests {
        private let scratch: Scratch
        private let server: DatabaseServer

        init() throws {
            scratch = Scratch()
            server = DatabaseServer(in: scratch)
        }

        @Test func `starts without the server, says what is missing, and goes on by itself`() async throws {
            let service = try await RunningService.start(in: scratch, environment: server.environment, isReady: false)
            let away = try await service.management.send(.GET, "/health/ready")
            #expect(away.status == 503)
            #expect(away.text.contains("PostgreSQL"))
            let list = try await service.call(.GET, "/v1/networks")
            #expect(list.status == 503)
            #expect(list.headers.first(name: "retry-after") != nil)

            try await server.start()
            try await eventually("the reason that migrations are pending") {
                let answer = try await service.management.send(.GET, "/health/ready")
                return answer.status == 503 && answer.text.contains("migrations pending: run carillon migrate")
            }
            let unmigrated = try await service.call(.GET, "/v1/networks")
            #expect(unmigrated.status == 503)

            // Three at once: each ends well, and each migration is run once.
            let programs = try (0..<3).map { _ in
                try Program(["migrate"], environment: server.environment, scratch: scratch)
            }
            for program in programs { #expect(try await program.exitStatus() == 0, "\(program.errorText)") }
            let applied = programs.flatMap { $0.outputText.split(separator: "\n") }.filter { $0.hasPrefix("applied ") }
            #expect(!applied.isEmpty)
            #expect(Set(applied).count == applied.count)

            try await eventually("readiness") {
                try await service.management.send(.GET, "/health/ready").status == 200
            }
            let network = try await TestNetwork(on: service)
            try await network.addMembers(["bob"])
            #expect(try await service.stop() == 0)
            #expect(!FileManager.default.fileExists(atPath: scratch.path("data")))
            await server.stop()
        }

        @Test func `what keeps migrations from running is told with the command that helps`() async throws {
            try await server.start()
            try await server.script("CREATE ROLE guest LOGIN")
            let address = try #require(server.environment["CARILLON_DATABASE_URL"])
            func told(_ more: String) async throws -> String {
                let environment = server.environment.merging(["CARILLON_DATABASE_URL": "\(address) \(more)"]) { $1 }
                let program = try Program(["migrate"], environment: environment, scratch: scratch)
                #expect(try await program.exitStatus() == 1)
                return program.errorText
            }
            #expect(try await told("dbname=nothing user=guest").contains("createdb --owner guest nothing"))
            #expect(try await told("user=nobody").contains("createuser --pwprompt nobody"))
            let refused = try await told("user=guest")
            #expect(refused.contains("(42501)") && refused.contains("OWNER TO \"guest\""), "\(refused)")
            try await server.script("CREATE TABLE networks (id int)")
            #expect(try await told("").contains("(42P07)"))
            await server.stop()
        }

        @Test func `a replica beside a schema that lacks a migration accepts no event until it is there`() async throws
        {
            try await server.start()
            try await server.migrate()
            let former = try await RunningService.start(in: scratch, environment: server.environment)
            let network = try await TestNetwork(on: former)
            try await server.execute(
                """
                UPDATE schema_migrations SET version = -version
                WHERE version = (SELECT max(version) FROM schema_migrations)
                """
            )
            let replica = try await RunningService.start(in: scratch, environment: server.environment, isReady: false)
            let there = network.on(replica)
            let answer = try await there.post(TestEvents.messageSent("early"))
            #expect(answer.status == 503)
            #expect(answer.headers.first(name: "retry-after") != nil)
            #expect(try await network.post(TestEvents.messageSent("beside")).status == 202)

            try await server.execute("UPDATE schema_migrations SET version = -version WHERE version < 0")
            try await eventually("an event being accepted") {
                try await there.post(TestEvents.messageSent("early")).status == 202
            }
            #expect(try await replica.stop() == 0)
            #expect(try await former.stop() == 0)
            await server.stop()
        }

        @Test func `doctor says what is wrong, and its status too`() async throws {
            let unreachable = try Program(["doctor"], environment: server.environment, scratch: scratch)
            #expect(try await unreachable.exitStatus() == 1)
            #expect(unreachable.outputText.contains("FAIL  PostgreSQL"))

            try await server.start()
            let unmigrated = try Program(["doctor"], environment: server.environment, scratch: scratch)
            #expect(try await unmigrated.exitStatus() == 1)
            #expect(unmigrated.outputText.contains("run carillon migrate"))

            #expect(try await Program(["migrate"], environment: server.environment, scratch: scratch).exitStatus() == 0)
            var ports = server.environment
            ports["CARILLON_LISTEN"] = "127.0.0.1:0"
            ports["CARILLON_MANAGEMENT_LISTEN"] = "127.0.0.1:0"
            let well = try Program(["doctor"], environment: ports, scratch: scratch)
            #expect(try await well.exitStatus() == 0, "\(well.outputText)")
            #expect(!well.outputText.contains("FAIL"))
            await server.stop()

            let wrong = try Program(["doctor"], environment: ["CARILLON_LISTN": "x"], scratch: scratch)
            #expect(try await wrong.exitStatus() == 1)
            #expect(wrong.outputText.contains("did you mean CARILLON_LISTEN?"))
        }
    }
}
