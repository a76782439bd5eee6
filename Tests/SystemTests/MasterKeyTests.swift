import CarillonCore
import Foundation
import NIOHTTP1
import Testing

extension Services {
    /// A service with a wrong master key, and one that gets another.
    @Suite struct MasterKeyTests {
        private let scratch: Scratch
        private let server: DatabaseServer

        init() throws {
            scratch = Scratch()
            server = DatabaseServer(in: scratch)
        }

        private func environment(_ key: UInt8, previous: UInt8? = nil) -> [String: String] {
            func text(_ key: UInt8) -> String { Data(repeating: key, count: 32).base64EncodedString() }
            var environment = server.environment.merging([
                "CARILLON_MASTER_KEY": text(key), "CARILLON_LISTEN": "127.0.0.1:0",
                "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0",
            ]) { $1 }
            if let previous { environment["CARILLON_MASTER_KEY_PREVIOUS"] = text(previous) }
            return environment
        }

        private func doctor(_ environment: [String: String]) async throws -> (status: Int32, text: String) {
            let doctor = try Program(["doctor"], environment: environment, scratch: scratch)
            let status = try await doctor.exitStatus()
            return (status, doctor.outputText)
        }

        @Test func `a wrong key is told in plain words, and a rotation needs no pause`() async throws {
            try await server.start()
            try await server.migrate()
            let first = try await RunningService.start(in: scratch, environment: environment(1))
            let network = try await TestNetwork(on: first)
            #expect(try await network.post(TestEvents.messageSent("m1")).status == 202)
            #expect(try await first.stop() == 0)

            let wrong = try await RunningService.start(in: scratch, environment: environment(2), isReady: false)
            try await eventually("the reason") {
                let answer = try await wrong.management.send(.GET, "/health/ready")
                return answer.status == 503 && answer.text.contains("CARILLON_MASTER_KEY is not the key")
            }
            let posted = try await network.on(wrong).post(TestEvents.messageSent("m2"))
            #expect(posted.status == 503)
            #expect(posted.text.contains("wrong-master-key"))
            try await network.on(wrong).send(.PUT, "/users/bob", ["displayName": "Bob"])
            let listed = try await wrong.call(.GET, "/v1/networks")
            #expect(listed.status == 200)
            let path = "/v1/networks/acme/webhook-secrets/rotate"
            #expect(try await wrong.open.send(.POST, path, token: network.adminKey).status == 503)
            let found = try await doctor(environment(2))
            #expect(found.status == 1)
            #expect(found.text.contains("FAIL  master key"))
            #expect(try await wrong.stop() == 0)

            let rotating = try await RunningService.start(in: scratch, environment: environment(2, previous: 1))
            #expect(try await network.on(rotating).post(TestEvents.messageSent("m3")).status == 202)
            try await eventually("the end of the rotation") {
                try await doctor(environment(2, previous: 1)).text.contains("the rotation is done")
            }
            #expect(try await rotating.stop() == 0)

            let last = try await RunningService.start(in: scratch, environment: environment(2))
            #expect(try await network.on(last).post(TestEvents.messageSent("m4")).status == 202)
            #expect(try await last.stop() == 0)
            await server.stop()
        }
    }
}
