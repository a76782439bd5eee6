import Subprocess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A program of PostgreSQL as it is started: as root behind a program that takes root's rights away first.
///
/// Subprocess could change the account itself (`PlatformOptions.userID`), but it does so in a cloned child through glibc's
/// functions, and those wait there for ever when another thread was being created at that moment. `setpriv` does it in a
/// process of its own, and is then replaced by PostgreSQL under the same process id.
/// - SeeAlso: setpriv(1)
struct ServerCommand: Hashable, Sendable {
    var program: String
    var arguments: [String]

    /// - Throws: `setprivNotFound`.
    init(_ program: String, _ arguments: [String], as account: ServerAccount) throws(EmbeddedClusterError) {
        guard account.userID != ServerAccount.current.userID else {
            self.program = program
            self.arguments = arguments
            return
        }
        guard let setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].first(where: FileSystem.isExecutable) else {
            throw .setprivNotFound
        }
        let groups = account.groups.sorted().map(String.init).joined(separator: ",")
        self.program = setpriv
        self.arguments =
            ["--reuid=\(account.userID)", "--regid=\(account.groupID)", "--groups=\(groups)", "--", program] + arguments
    }
}

struct ServerBinaries: Sendable {
    var postgres: String
    var initdb: String
    /// For example `15`.
    var majorVersion: String

    private static let versionedRoot = "/usr/lib/postgresql"

    /// Finds the programs, in a directory or by searching: only the version that made a cluster can run it.
    /// - Throws: `serverNotFound` and `versionMismatch`.
    static func find(
        in directory: String?,
        for clusterVersion: String?
    ) async throws(EmbeddedClusterError) -> ServerBinaries {
        let directories = directory.map { [$0] } ?? pathDirectories + versionedDirectories
        var found: ServerBinaries?
        for directory in directories {
            guard let binaries = await ServerBinaries(directory: directory) else { continue }
            if clusterVersion == nil || binaries.majorVersion == clusterVersion { return binaries }
            found = found ?? binaries
        }
        if let found, let clusterVersion {
            throw .versionMismatch(cluster: clusterVersion, server: found.majorVersion)
        }
        throw .serverNotFound(searched: directory.map { [$0] } ?? ["PATH", "\(versionedRoot)/*/bin"])
    }

    private init?(directory: String) async {
        postgres = directory + "/postgres"
        initdb = directory + "/initdb"
        // Client packages bring some of the programs, so both are asked for.
        guard FileSystem.isExecutable(postgres), FileSystem.isExecutable(initdb) else { return nil }
        let result = try? await run(
            .path(FilePath(postgres)),
            arguments: ["--version"],
            output: .string(limit: 1024),
            error: .discarded
        )
        guard let version = result?.standardOutput, let major = Self.majorVersion(in: version) else { return nil }
        majorVersion = major
    }

    /// Reads `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`; before a release the version is like `18beta1`.
    static func majorVersion(in output: String) -> String? {
        guard let version = output.split(whereSeparator: \.isWhitespace).dropFirst(2).first else { return nil }
        let major = version.prefix(while: \.isNumber)
        return major.isEmpty ? nil : String(major)
    }

    private static var pathDirectories: [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    private static var versionedDirectories: [String] {
        FileSystem.entries(of: versionedRoot)
            .compactMap { name in Double(name).map { (version: $0, name: name) } }
            .sorted { $0.version > $1.version }
            .map { "\(versionedRoot)/\($0.name)/bin" }
    }
}

enum ServerSettings {
    #if canImport(Darwin)
        static let locale = "C"
    #else
        static let locale = "C.UTF-8"
    #endif

    /// The server's arguments; `overrides` win over the settings chosen here.
    static func arguments(for directory: DataDirectory, overrides: [String: String]) -> [String] {
        var settings = [
            // Reachable through a socket in a private directory only; this is why connections need no password.
            "listen_addresses": "",
            "port": String(DataDirectory.port),
            "unix_socket_directories": directory.socketDirectory,
            "unix_socket_permissions": "0700",
            "max_connections": "100",
            "fsync": "on",
            "synchronous_commit": "on",
            // An upgrade of the package replaces the files under a running server, which cannot load those of another build
            // any more. What sessions use is loaded at the start for all of them, and what else they would load is not used.
            "shared_preload_libraries": "plpgsql",
            "jit": "off",
            // Errors go to the client that caused them. In a log they would quote its values.
            "log_min_messages": "log",
            "log_min_error_statement": "panic",
            "log_statement": "none",
            "logging_collector": "off",
        ]
        settings.merge(overrides) { _, override in override }
        return ["-D", directory.cluster]
            + settings.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
    }
}
