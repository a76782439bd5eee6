import Foundation
import Synchronization
import Testing

@testable import EmbeddedPostgres

/// PgBouncer before a server, which hands out sessions by transaction, or as connections come.
final class Pooler: Sendable {
    /// Where it is installed, if it is.
    static let program = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .map { "\($0)/pgbouncer" }.first(where: FileSystem.isExecutable)

    private static let port = 6432

    /// How to reach the server through it.
    let connectionString: String

    private let configuration: String
    private let log: String
    private let account: ServerAccount
    private let process = Mutex<Process?>(nil)

    /// A pooler that does not run yet.
    ///
    /// - Parameters:
    ///   - server: How to reach the server itself.
    ///   - scratch: Where its socket, its configuration and its log are.
    ///   - mode: When a session is another connection's: `transaction` or `session`.
    ///   - ignoresOptions: Whether it takes settings that come with a connection and forgets them, or refuses the connection.
    /// - Throws: When there is no place for its files.
    init(before server: String, in scratch: Scratch, mode: String = "transaction", ignoresOptions: Bool = false) throws
    {
        let directory = scratch.path("pooler")
        account = try EmbeddedPostgres.DataDirectory(path: scratch.path("server")).serverAccount(named: "postgres")
        if !FileSystem.exists(directory) {
            try FileSystem.makePrivateDirectory(directory)
            if ServerAccount.isRoot { try FileSystem.changeOwner(of: directory, to: account) }
        }
        connectionString = "host=\(directory) port=\(Self.port) user=postgres dbname=carillon"
        let name = UUID().uuidString
        (configuration, log) = (scratch.path("\(name).ini"), scratch.path("\(name).log"))
        try """
        [databases]
        carillon = \(server)
        [pgbouncer]
        pool_mode = \(mode)
        auth_type = any
        unix_socket_dir = \(directory)
        listen_port = \(Self.port)
        default_pool_size = 5
        server_login_retry = 0.1
        \(ignoresOptions ? "ignore_startup_parameters = options" : "")

        """.write(toFile: configuration, atomically: true, encoding: .utf8)
    }

    deinit { kill() }

    /// Starts it, and waits until it answers.
    func start() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.program))
        process.arguments = (ServerAccount.isRoot ? ["-u", account.name] : []) + [configuration]
        try Data().write(to: URL(fileURLWithPath: log))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        self.process.withLock { $0 = process }
        try await eventually("a pooler that listens") {
            let text = try String(contentsOfFile: log, encoding: .utf8)
            try #require(isRunning, "\(text)")
            return text.contains("process up")
        }
    }

    private var isRunning: Bool { process.withLock { $0?.isRunning ?? false } }

    /// Ends it at once, and with it all connections.
    func kill() {
        process.withLock { process in
            guard let process, process.isRunning else { return }
            _ = signal(process.processIdentifier)
            process.waitUntilExit()
        }
    }

    private func signal(_ process: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.kill(process, SIGKILL)
        #else
            Darwin.kill(process, SIGKILL)
        #endif
    }
}
