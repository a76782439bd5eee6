import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

extension DataDirectory {
    /// Makes the cluster beside its place and moves it there when it is complete.
    ///
    /// - Throws: `notACluster`, `initializationFailed`, `fileSystem`, or what starting a process fails with.
    func initialize(with binaries: ServerBinaries, as account: ServerAccount, isDurable: Bool) async throws {
        guard FileSystem.entries(of: cluster).isEmpty else {
            throw EmbeddedClusterError.notACluster(directory: cluster)
        }
        try FileSystem.remove(partialCluster)
        try FileSystem.makePrivateDirectory(partialCluster)
        if ServerAccount.isRoot { try FileSystem.changeOwner(of: partialCluster, to: account) }
        let arguments = [
            "-D", partialCluster, "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=\(ServerSettings.locale)", "--no-instructions",
        ]
        let command = try ServerCommand(binaries.initdb, arguments + (isDurable ? [] : ["--no-sync"]), as: account)
        let result = try await run(
            .path(FilePath(command.program)),
            arguments: Arguments(command.arguments),
            environment: .server,
            workingDirectory: "/",
            platformOptions: .server,
            output: .discarded,
            error: .string(limit: 64 << 10)
        )
        guard result.terminationStatus.isSuccess else {
            throw EmbeddedClusterError.initializationFailed(output: result.standardError)
        }
        try FileSystem.remove(cluster)
        try FileSystem.move(partialCluster, to: cluster)
        try FileSystem.synchronize(directory: path)
    }
}
