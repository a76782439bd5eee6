import CarillonCore
import Foundation
import NIOHTTP1
import Testing

extension Services {
    @Suite struct StartTests {
        private let scratch = Scratch()

        @Test func `starts on an empty directory and says where it listens`() async throws {
            let service = try await RunningService.start(in: scratch)
            let ready = try await service.management.send(.GET, "/health/ready")
            #expect(ready.status == 200)
            #expect(try await service.open.send(.GET, "/openapi.yaml").status == 200)
            for name in ["operator-token", "master-key"] {
                let path = "\(scratch.path("data"))/\(name)"
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                let secret = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(
                    in: .whitespacesAndNewlines
                )
                #expect(!service.program.errorText.contains(secret))
                #expect(service.program.errorText.contains(path))
            }
            #expect(service.program.outputText.isEmpty)
            #expect(try await service.stop() == 0)
        }

        @Test func `health and metrics are on the management port only`() async throws {
            let service = try await RunningService.start(in: scratch)
            for path in ["/health/live", "/health/ready", "/metrics"] {
                #expect(try await service.management.send(.GET, path).status == 200)
                #expect(try await service.open.send(.GET, path).status == 404)
            }
            let networks = try await service.management.send(.GET, "/v1/networks", token: service.operatorToken)
            #expect(networks.status == 404)
            let metrics = try await service.management.send(.GET, "/metrics")
            for name in [
                "carillon_events_total", "carillon_recipients_total", "carillon_group_commit_size_count",
                "carillon_postgres_wait_seconds_count", "carillon_http_requests_total", "carillon_build_info",
                "process_resident_memory_bytes", "carillon_http_connections_max{port=\"public\"}",
                "carillon_apns_certificates{state=\"ended\"} 0", "carillon_master_key_previous 0",
                "carillon_brakes{provider=\"apns\"} 0",
                // What an alert compares begins at 0: a counter that begins at 1 never grew.
                "carillon_deliveries_total{provider=\"apns\",outcome=\"dead\"} 0",
            ] {
                #expect(metrics.text.contains("\n\(name)"), "\(name) is missing")
            }
            #expect(metrics.headers.first(name: "content-type")?.hasPrefix("text/plain; version=0.0.4") == true)
            try await eventually("readiness in the metrics") {
                try await service.management.send(.GET, "/metrics").text.contains("\ncarillon_ready 1\n")
            }
            try await eventually("the size of the database, which has some megabytes") {
                try await service.management.send(.GET, "/metrics").text.contains(/\ncarillon_database_bytes \d{7,}\n/)
            }
        }

        @Test(
            arguments: [
                ["CARILLON_LISTN": "127.0.0.1:0"], ["CARILLON_LISTEN": "nowhere"], ["CARILLON_OPERATOR_TOKEN": "hush"],
                ["CARILLON_DATABASE_URL": "postgres://user:hush@127.0.0.1/carillon"],
            ]
        )
        func `a configuration with a mistake stops the start`(environment: [String: String]) async throws {
            let program = try Program(["serve"], environment: environment, scratch: scratch)
            #expect(try await program.exitStatus() == 78)
            let lines = program.errorText.split(separator: "\n")
            #expect(!lines.isEmpty)
            #expect(lines.allSatisfy { $0.hasPrefix("carillon: CARILLON_") })
            #expect(!program.errorText.contains("hush"))
        }

        @Test func `a port that is taken stops the start with one line, before anything is made`() async throws {
            let first = try await RunningService.start(in: scratch)
            let other = Scratch()
            let taken = String(first.open.base.dropFirst("http://".count))
            let program = try Program(
                ["serve"],
                environment: [
                    "CARILLON_LISTEN": taken, "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0",
                    "CARILLON_DATA_DIR": other.path("data"),
                ],
                scratch: other
            )
            #expect(try await program.exitStatus() == 78)
            let line = "carillon: CARILLON_LISTEN: cannot listen on \(taken): Address already in use: "
            #expect(program.errorText == line + "stop what listens there, or choose another\n")
            #expect(!FileManager.default.fileExists(atPath: other.path("data")))
        }

        @Test(arguments: ["data", "data/cluster"])
        func `a data directory that cannot be one stops the start`(file: String) async throws {
            let path = scratch.path(file)
            let above = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: above, withIntermediateDirectories: true)
            if file == "data" {
                try Data().write(to: URL(fileURLWithPath: path))
            } else {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                try Data().write(to: URL(fileURLWithPath: "\(path)/notes"))
            }
            let environment = [
                "CARILLON_LISTEN": "127.0.0.1:0", "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0",
                "CARILLON_DATA_DIR": scratch.path("data"),
            ]
            let program = try Program(["serve"], environment: environment, scratch: scratch)
            #expect(try await program.exitStatus() == 78)
            // What the servers say of their own end may come behind it.
            let line = program.errorText.split(separator: "\n").first { $0.hasPrefix("carillon: ") }
            #expect(line?.contains("set CARILLON_DATA_DIR") == true, "\(program.errorText)")
        }

        @Test func `help for what is no command is a mistake`() async throws {
            let program = try Program(["help", "bogus"], environment: [:], scratch: scratch)
            #expect(try await program.exitStatus() == 64)
            #expect(program.errorText.contains("There is no command bogus."))
        }

        @Test func `an embedded server that a killed service left behind is taken over`() async throws {
            let first = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: first)
            let server = try #require(PostmasterFile(dataDirectory: scratch.path("data")))
            first.program.send(SIGKILL)
            #expect(try await first.program.exitStatus() == -SIGKILL)
            #expect(server.isAlive)

            let second = try await RunningService.start(in: scratch)
            #expect(PostmasterFile(dataDirectory: scratch.path("data")) == server)
            try await network.on(second).send(.GET, "/notifications")
            #expect(try await second.stop() == 0)
            // Whoever inherited it has to reap it first.
            try await eventually("the server is gone") { !server.isAlive }
        }
    }
}
