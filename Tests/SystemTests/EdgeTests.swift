import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

extension Services {
    @Suite struct EdgeTests {
        private let scratch = Scratch()

        @Test func `with 256 descriptors and 400 silent connections the service answers and lives`() async throws {
            let service = try await RunningService.start(in: scratch, prelude: "ulimit -n 256")
            let port = try #require(URL(string: service.open.base)?.port)
            let silent = try await withThrowingTaskGroup(of: (any NIOCore.Channel).self) { group in
                for _ in 0..<400 {
                    group.addTask {
                        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                            .connect(host: "127.0.0.1", port: port).get()
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for _ in 0..<20 {
                #expect(try await service.open.send(.GET, "/openapi.yaml").status == 200)
            }
            let ready = try await service.management.send(.GET, "/health/ready")
            #expect(ready.status == 200)
            #expect(ready.json["warnings"]?.elements.first?.text?.contains("open files is 256") == true)
            for channel in silent { try? await channel.close() }
            #expect(service.program.isRunning)
            #expect(try await service.stop() == 0)
        }

        @Test func `a log that nobody reads holds nothing up, and says what is missing when it is read`() async throws {
            let pipe = scratch.path("log")
            try #require(mkfifo(pipe, 0o600) == 0)
            let reader = open(pipe, O_RDONLY | O_NONBLOCK)
            try #require(reader >= 0)
            defer { close(reader) }
            let (open, management) = (try await Self.freePort(), try await Self.freePort())
            let program = try Program(
                ["serve"],
                environment: [
                    "CARILLON_LISTEN": "127.0.0.1:\(open)", "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:\(management)",
                    "CARILLON_DATA_DIR": scratch.path("data"), "CARILLON_LOG_FORMAT": "json",
                ],
                scratch: scratch,
                prelude: "exec 2>'\(pipe)'"
            )
            let api = TestClient(base: "http://127.0.0.1:\(open)")
            let metrics = TestClient(base: "http://127.0.0.1:\(management)")
            try await eventually(within: .seconds(60), "readiness") {
                try #require(program.isRunning)
                return (try? await metrics.send(.GET, "/health/ready").status) == 200
            }
            // Each of them is a line, since it is the operator's; a pipe takes 64 KB and the service's memory a megabyte.
            let token = try String(contentsOfFile: scratch.path("data/operator-token"), encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let id = String(repeating: "x", count: 128)
            func dropped() async throws -> Bool {
                try await !metrics.send(.GET, "/metrics").text.contains("carillon_log_lines_dropped_total 0\n")
            }
            try await eventually(within: .seconds(120), "a dropped line") {
                for _ in 0..<200 {
                    let answer = try await api.send(
                        .GET,
                        "/v1/networks?limit=0",
                        token: token,
                        headers: ["x-request-id": id]
                    )
                    #expect(answer.status == 400)
                }
                return try await dropped()
            }
            var text = ""
            try await eventually("the line that says what is missing") {
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                let count = read(reader, &buffer, buffer.count)
                if count > 0 { text = String(decoding: text.utf8.suffix(1_000) + buffer[..<count], as: UTF8.self) }
                return text.contains("were dropped")
            }
            program.send(SIGTERM)
            #expect(try await program.exitStatus() == 0)
        }

        /// A port that was free a moment ago.
        private static func freePort() async throws -> Int {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(channel.localAddress?.port)
            try await channel.close()
            return port
        }
    }
}
