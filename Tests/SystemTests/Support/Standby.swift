import Foundation
import Logging
import Postgres
import Testing

@testable import EmbeddedPostgres

/// A server that follows another one and accepts no writes until it is promoted.
struct Standby: Sendable {
    let connectionString: String

    private let directory: EmbeddedPostgres.DataDirectory
    private let server: ServerProcess
    private let guardian: Guardian

    /// The server as a URL without blanks.
    var url: String {
        let host = directory.socketDirectory.replacing("/", with: "%2F")
        return "postgres:///carillon?host=\(host)&port=\(EmbeddedPostgres.DataDirectory.port)&user=postgres"
    }

    /// Copies a running server, and starts to follow it.
    init(of primary: String, in scratch: Scratch) async throws {
        directory = DataDirectory(path: scratch.path("standby"))
        connectionString =
            "host=\(directory.socketDirectory) port=\(EmbeddedPostgres.DataDirectory.port) user=postgres dbname=carillon"
        let account = try directory.serverAccount(named: "postgres")
        try directory.create(for: account)
        let binaries = try await ServerBinaries.find(in: nil, for: nil)
        // Beside the server itself, of which there may be only a link in PATH.
        let programs = URL(fileURLWithPath: binaries.postgres).resolvingSymlinksInPath().deletingLastPathComponent()
        try Self.run(
            ServerCommand(
                "\(programs.path)/pg_basebackup",
                ["-D", directory.cluster, "-d", primary, "-R", "-X", "stream", "-c", "fast", "--no-sync"],
                as: account
            )
        )
        try directory.createSocketDirectory(for: account)
        let removed = [FileSystem.absolute(scratch.path)] + directory.temporarySocketDirectory
        guardian = try await Guardian.start(over: directory.cluster, removing: removed)
        let arguments = ServerSettings.arguments(for: directory, overrides: [:])
        server = try await ServerProcess.launch(
            ServerCommand(binaries.postgres, arguments, as: account),
            log: directory.log
        )
        try await eventually("a standby that answers") {
            (try? await withSession { session in try session.execute("SELECT") }) != nil
        }
    }

    /// Has it accept writes from now on.
    func promote() async throws { try await withSession { session in _ = try session.execute("SELECT pg_promote()") } }

    /// Ends it at once.
    func stop() async {
        server.send(SIGQUIT)
        _ = await server.waitForExit(atMost: .seconds(10))
        await guardian.dismiss()
        try? directory.removeTemporarySocketDirectory()
    }

    private func withSession<Value: Sendable>(
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        let configuration = try PostgresConfiguration(url: "\(connectionString) target_session_attrs=any")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try await PostgresPool.withPool(configuration: configuration, logger: logger) { pool in
            try await pool.withConnection(body)
        }
    }

    private static func run(_ command: ServerCommand) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command.program)
        process.arguments = command.arguments
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(command.program)")
    }
}
