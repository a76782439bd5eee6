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

struct ServerBinaries: Sendable {
    var postgres: String
    var initdb: String
    /// For example `15`.
    var majorVersion: String

    private static let versionedRoot = "/usr/lib/postgresql"

    /// Finds the programs.
    ///
    /// - Parameters:
    ///   - directory: Where they must be; nil searches.
    ///   - clusterVersion: The version that made the cluster, if there is one: only that one can run it.
    /// - Returns: The first that fit.
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
