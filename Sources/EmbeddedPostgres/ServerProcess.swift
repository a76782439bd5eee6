import Subprocess

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A running PostgreSQL server, started by this process or found.
struct ServerProcess: Sendable {
    let processID: pid_t
    // Ends when the server has ended and has been reaped; nil for a server that is not this process's child.
    var exit: Task<Void, Never>?

    var isAlive: Bool { Self.isAlive(processID) }

    /// Calls `body` once the server has ended; never for a server that is not this process's child.
    func onExit(_ body: @escaping @Sendable () async -> Void) {
        guard let exit else { return }
        // It ends with the server.
        Task {
            await exit.value
            await body()
        }
    }

    /// Whether it runs and its end is told.
    var isWatched: Bool { exit != nil && isAlive }

    static func isAlive(_ processID: pid_t) -> Bool {
        exists(processID) && !isZombie(processID)
    }

    /// Whether there is a process of this id, be it dead: one that has ended keeps its id until its parent asks for it.
    static func exists(_ processID: pid_t) -> Bool {
        kill(processID, 0) == 0 || errno == EPERM
    }

    /// Whether a process has ended and nobody has asked for it yet, which process 1 of a container may never do.
    /// - SeeAlso: proc_pid_stat(5)
    private static func isZombie(_ processID: pid_t) -> Bool {
        guard let status = FileSystem.contents(of: "/proc/\(processID)/stat", limit: 1024),
            // The name is in parentheses and may hold anything; the state is the field behind it.
            let name = status.lastIndex(of: ")"),
            let state = status[name...].split(separator: " ").dropFirst().first
        else { return false }
        return state == "Z" || state == "X"
    }

    /// Whether a process is the server of a data directory, as far as can be known.
    static func serves(_ processID: pid_t, _ dataDirectory: String) -> Bool {
        isAlive(processID) && ProcessTraces(of: processID).isServer(of: dataDirectory)
    }

    /// A server, or a child of one, that has a directory as its own, as all processes of a server have their data directory. Others
    /// may stand there, such as somebody's shell.
    static func worker(in directory: String) -> pid_t? {
        let directory = FileSystem.resolved(directory)
        return FileSystem.entries(of: "/proc").lazy.compactMap { pid_t($0) }.first { processID in
            FileSystem.destination(ofLink: "/proc/\(processID)/cwd") == directory
                && ProcessTraces(of: processID).isPostgres
        }
    }

    /// Starts the server and returns as soon as its process exists.
    ///
    /// - Throws: What starting a process fails with.
    static func launch(_ command: ServerCommand, log: ServerLog) async throws -> ServerProcess {
        let descriptor = try FileSystem.openForAppending(log.path)
        defer { close(descriptor) }
        // It outlives the cluster's `start()`, which is what an embedded server is for; `waitForExit()` joins it.
        let (processID, server) = await start(
            .server(command.program, command.arguments),
            input: .none,
            output: .fileDescriptor(FileDescriptor(rawValue: descriptor), closeAfterSpawningProcess: false)
        )
        guard let processID else {
            try await server.value
            throw EmbeddedClusterError.startFailed(log: log.tail())
        }
        return ServerProcess(processID: processID, exit: Task { _ = await server.result })
    }

    /// Starts a program that outlives the caller; answers as soon as its process exists, and what ends with it. Without a process that
    /// says why.
    static func start(
        _ program: Configuration,
        input: some InputProtocol,
        output: some ErrorOutputProtocol
    ) async -> (processID: pid_t?, end: Task<Void, any Error>) {
        let (started, continuation) = AsyncStream<pid_t>.makeStream()
        let end = Task {
            defer { continuation.finish() }
            _ = try await run(program, input: input, output: output, error: output) { execution in
                continuation.yield(execution.processIdentifier.value)
            }
        }
        // Not cancelled with the caller: a server that nobody knows of could not be stopped.
        return (await Task { await started.first { _ in true } }.value, end)
    }

    /// Sends a signal; nothing happens when the server is gone already.
    func send(_ signal: Int32) {
        // The exit task still holds the process, so its id cannot belong to another one yet; for an adopted server
        // the moment between look and signal is as short as it can be.
        if isAlive { kill(processID, signal) }
    }

    /// Waits until the server has ended; cancellation does not shorten the wait.
    func waitForExit(atMost limit: Duration) async -> Bool {
        await Task {
            let deadline = ContinuousClock.now + limit
            while isAlive {
                guard ContinuousClock.now < deadline else { return false }
                try? await Task.sleep(for: .milliseconds(10))
            }
            await exit?.value
            return true
        }.value
    }
}

extension Configuration {
    /// A program of PostgreSQL, which takes settings from variables such as PGDATA and PGPORT. It is out of reach of the terminal's signals,
    /// so that Ctrl-C does not stop the server before those who use it are done.
    static func server(_ program: String, _ arguments: [String]) -> Configuration {
        var options = PlatformOptions()
        options.createSession = true
        return Configuration(
            executable: .path(FilePath(program)),
            arguments: Arguments(arguments),
            environment: .custom(["PATH": "/usr/bin:/bin", "LC_ALL": ServerSettings.locale]),
            workingDirectory: "/",
            platformOptions: options
        )
    }
}
