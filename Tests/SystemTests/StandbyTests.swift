import CarillonCore
import NIOHTTP1
import Testing

extension Services {
    /// A service that is told to use a server which follows another one.
    @Suite struct StandbyTests {
        @Test
        func `behind a standby it is not ready, says why, and works by itself once that is promoted`() async throws {
            let scratch = Scratch()
            let server = DatabaseServer(in: scratch)
            try await server.start()
            try await server.migrate()
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
    }
}
