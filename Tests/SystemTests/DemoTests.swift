import Foundation
import NIOHTTP1
import Testing

extension Services {
    /// `carillon demo`, which plays the main job and checks that it comes out as told.
    @Suite struct DemoTests {
        private static let migrations = URL(fileURLWithPath: #filePath)
            .appending(path: "../../../Migrations").standardizedFileURL

        private let scratch = Scratch()

        @Test func `an act that fails ends the demo, and its service and database with it`() async throws {
            let migrations = scratch.path("migrations")
            try FileManager.default.copyItem(at: Self.migrations, to: URL(fileURLWithPath: migrations))
            // The act in which a browser is registered cannot come out right.
            let directory = URL(fileURLWithPath: "\(migrations)/0002_directory.sql")
            var tables = try String(contentsOf: directory, encoding: .utf8)
            tables += "ALTER TABLE devices ADD CHECK (provider <> 'webpush');\n"
            try Data(tables.utf8).write(to: directory)
            let demo = try Program(["demo"], environment: ["CARILLON_MIGRATIONS_DIR": migrations], scratch: scratch)
            #expect(try await demo.exitStatus(within: .seconds(40)) == 1)
            #expect(demo.errorText.contains("/devices/dave-browser was answered 500 "), "\(demo.errorText)")
            #expect(!demo.outputText.contains("Everything came out"))
        }

        /// While the database is made, and while the service runs.
        @Test(arguments: ["cluster.partial", "cluster/postmaster.pid"])
        func `a demo that is killed leaves nothing behind, and the next one plays all acts at once`(file: String)
            async throws
        {
            let temporary = scratch.path("tmp")
            try FileManager.default.createDirectory(
                atPath: temporary,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o711]
            )
            func made() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: temporary) }
            let demo = try Program(["demo"], environment: ["TMPDIR": temporary], scratch: scratch)
            try await eventually("\(file) of its own database") {
                try made().contains { FileManager.default.fileExists(atPath: "\(temporary)/\($0)/data/\(file)") }
            }
            let server = try made().lazy.compactMap { PostmasterFile(dataDirectory: "\(temporary)/\($0)/data") }.first
            demo.send(SIGKILL)
            let next = try Program(["demo"], environment: ["TMPDIR": temporary], scratch: scratch)
            #expect(try await demo.exitStatus() == -SIGKILL)
            #expect(try await next.exitStatus(within: .seconds(60)) == 0, "\(next.errorText)")
            #expect(next.outputText.hasSuffix("Everything came out as it should.\n"))
            #expect(next.outputText.contains("Bob    unregistered iPhone   410"))
            #expect(next.outputText.contains("Where is the darn key? → Where is the d*** key?"))
            #expect(next.outputText.contains("Buy spam now → nobody is notified"))
            try await eventually("the end of the server") { server?.isAlive != true }
            try await eventually("an empty directory") { try made().isEmpty }
        }

        @Test func `a service that cannot start ends the demo`() async throws {
            let migrations = scratch.path("empty")
            try FileManager.default.createDirectory(atPath: migrations, withIntermediateDirectories: true)
            let demo = try Program(["demo"], environment: ["CARILLON_MIGRATIONS_DIR": migrations], scratch: scratch)
            #expect(try await demo.exitStatus(within: .seconds(40)) == 1)
            #expect(demo.errorText.contains("\ncarillon: "), "\(demo.errorText)")
        }

        @Test(arguments: [("127.0.0.0/8", Int32(0)), ("10.0.0.0/8", 1)])
        func `plays on a service that runs, or says what that may not do`(allowed: String, status: Int32) async throws {
            let service = try await RunningService.start(in: scratch, environment: ["CARILLON_EGRESS_ALLOW": allowed])
            let token = scratch.path("data/operator-token")
            let demo = try Program(
                ["demo", "--url", service.open.base, "--operator-token-file", token],
                environment: [:],
                scratch: scratch
            )
            #expect(try await demo.exitStatus(within: .seconds(60)) == status, "\(demo.errorText)")
            #expect(demo.errorText.contains("CARILLON_EGRESS_ALLOW=127.0.0.0/8") == (status != 0))
            // What it made is gone again, however it ended.
            let networks = try await service.call(.GET, "/v1/networks")
            #expect(networks.json["items"]?.elements.isEmpty == true, "\(networks.text)")
            #expect(try await service.stop() == 0)
        }
    }
}
