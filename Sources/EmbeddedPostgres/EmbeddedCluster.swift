package import Logging
import Postgres

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A private PostgreSQL server in a directory of one's own, reachable through a socket only.
///
/// The first process on a data directory owns the server: it makes the cluster, starts the server and stops it. Others
/// on the same directory use it, and take over when the owner is gone. A server that a killed owner has left behind is
/// taken over as it is.
package actor EmbeddedCluster {
    nonisolated let configuration: EmbeddedClusterConfiguration
    nonisolated let logger: Logger
    nonisolated let directory: DataDirectory
    private var lock: OwnershipLock?
    private var server: ServerProcess?
    private var nap: Task<Void, Never>?
    private var guardian: Guardian?
    /// Why the server's log could not be trimmed, which is told once.
    private var logTrouble: EmbeddedClusterError?

    /// Where to connect: as the superuser `postgres` to the database `carillon`.
    package nonisolated let connectionString: String

    /// Describes a cluster; nothing is touched before ``start()``.
    package init(configuration: EmbeddedClusterConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        directory = DataDirectory(path: configuration.dataDirectory)
        connectionString = Self.connectionString(to: "carillon", in: directory)
    }

    /// Makes the server run, whatever state its directory is in, and returns when it accepts connections.
    ///
    /// - Returns: ``connectionString``.
    /// - Throws: ``EmbeddedClusterError``, `PostgresError`, or what starting a process fails with.
    package func start() async throws -> String {
        let account = try directory.serverAccount(named: configuration.serverAccount)
        try directory.create(for: account)
        var patience = StartPatience(configuration.startTimeout)
        while true {
            try await ensureServer(as: account, &patience)
            let attempt = ContinuousClock.now
            do {
                try await createDatabase()
                return connectionString
            } catch let error as PostgresError where error.isConnectivity {
                // Another owner has stopped the server at this very moment, or it has crashed: once more.
                logger.debug("Cannot use PostgreSQL yet", metadata: ["error": "\(error)"])
                if error.isOfRecovery {
                    noteRecovery(&patience, since: attempt)
                } else if patience.isOver {
                    throw error
                }
            }
        }
    }

    /// Stops the server if this process owns it: sessions are ended, and what was committed is written.
    package func stop() async {
        if lock != nil, let server {
            logger.info("Stopping PostgreSQL", metadata: metadata)
            await stop(server)
            try? directory.removeTemporarySocketDirectory()
        }
        await guardian?.dismiss()
        guardian = nil
        server = nil
        lock = nil
    }

    /// Whether there is nothing to do: the server runs, and somebody owns it.
    var isRunning: Bool {
        get throws {
            if lock == nil { lock = try OwnershipLock(path: directory.lock) }
            // An owner that has just become one adopts the server in `start()`.
            guard lock != nil else { return directory.postmasterFile?.isAlive ?? false }
            return server?.isAlive ?? false
        }
    }

    var ownsServer: Bool { lock != nil }
    var processID: Int32? { server?.processID ?? directory.postmasterFile?.processID }

    private nonisolated var metadata: Logger.Metadata { ["postgres.directory": "\(directory.path)"] }

    private static func connectionString(to database: String, in directory: DataDirectory) -> String {
        "host=\(directory.socketDirectory) port=\(DataDirectory.port) user=postgres dbname=\(database)"
    }
}

extension EmbeddedCluster {
    private func ensureServer(as account: ServerAccount, _ patience: inout StartPatience) async throws {
        if try await !becomesOwner(&patience) {
            logger.info("Using the PostgreSQL server of another process", metadata: metadata)
            return
        }
        if let scratch = configuration.throwAwayDirectory, guardian == nil {
            // Before the server is started, so that there is none without it.
            guardian = try await Guardian.start(
                over: directory.cluster,
                removing: [FileSystem.absolute(scratch)] + directory.temporarySocketDirectory
            )
        }
        if let file = directory.postmasterFile, file.isAlive {
            try await adopt(file.processID, &patience)
        } else {
            try await launch(as: account, &patience)
        }
    }

    /// Makes a running server one's own.
    private func adopt(_ processID: Int32, _ patience: inout StartPatience) async throws {
        if let server, server.processID == processID { return }
        logger.info("Taking over a running PostgreSQL server", metadata: metadata)
        let server = ServerProcess(processID: processID)
        self.server = server
        try await waitUntilReady(server, &patience)
    }

    private func launch(as account: ServerAccount, _ patience: inout StartPatience) async throws {
        let binaries = try await ServerBinaries.find(
            in: configuration.binaryDirectory,
            for: directory.clusterVersion
        )
        if directory.clusterVersion == nil {
            logger.info("Making a PostgreSQL cluster", metadata: metadata)
            let isDurable = configuration.settings["fsync"] != "off"
            try await directory.initialize(with: binaries, as: account, isDurable: isDurable)
        }
        try directory.createSocketDirectory(for: account)
        while let obstacle = try directory.removeMisleadingPostmasterFile() {
            try await pause(&patience, failure: .occupied(directory: directory.cluster, processID: obstacle))
        }
        trimLog()
        let command = try ServerCommand(
            binaries.postgres,
            ServerSettings.arguments(for: directory, overrides: configuration.settings),
            as: account
        )
        logger.info("Starting PostgreSQL", metadata: metadata)
        let server = try await ServerProcess.launch(command, log: directory.log)
        self.server = server
        server.onExit { [weak self] in await self?.wake() }
        do {
            try await waitUntilReady(server, &patience)
        } catch {
            await stop(server)
            self.server = nil
            throw error
        }
    }

    /// Waits until either this process owns the server or the owner has it running, and tells which.
    private func becomesOwner(_ patience: inout StartPatience) async throws -> Bool {
        while true {
            if lock == nil { lock = try OwnershipLock(path: directory.lock) }
            if lock != nil { return true }
            let file = directory.postmasterFile.flatMap { $0.isAlive ? $0 : nil }
            if file?.isReady == true { return false }
            try await pause(&patience, whileRecovering: file?.isStarting == true)
        }
    }

    /// Waits until the server says in its file that it accepts connections.
    private func waitUntilReady(_ server: ServerProcess, _ patience: inout StartPatience) async throws {
        while true {
            let file = directory.postmasterFile.flatMap { $0.processID == server.processID ? $0 : nil }
            if file?.isReady == true { return }
            guard server.isAlive else { throw EmbeddedClusterError.startFailed(log: directory.log.tail()) }
            try await pause(&patience, whileRecovering: file?.isStarting == true)
        }
    }

    /// Waits a moment.
    ///
    /// - Throws: `failure` when there is no time left for that, or that the start took too long.
    private func pause(
        _ patience: inout StartPatience,
        whileRecovering isRecovering: Bool = false,
        failure: EmbeddedClusterError? = nil
    ) async throws {
        guard isRecovering || !patience.isOver else { throw failure ?? .startTimedOut(log: directory.log.tail()) }
        let start = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(5))
        if isRecovering { noteRecovery(&patience, since: start) }
    }

    private func noteRecovery(_ patience: inout StartPatience, since start: ContinuousClock.Instant) {
        guard patience.leaveOut(since: start) else { return }
        let line = directory.log.tail().split(whereSeparator: \.isNewline).last ?? ""
        logger.notice(
            "PostgreSQL is recovering, and is waited for",
            metadata: metadata.merging(["postgres.log": "\(line)"]) { $1 }
        )
    }

    /// Keeps the server's log small. One that cannot be is no reason to be without a server.
    func trimLog() {
        do throws(EmbeddedClusterError) {
            try directory.log.trim()
            logTrouble = nil
        } catch {
            if error != logTrouble {
                logger.warning("Cannot trim the log of PostgreSQL", metadata: ["error": "\(error)"])
            }
            logTrouble = error
        }
    }

    /// Waits until it is time to look again whether the server runs: when a child has ended, at once.
    ///
    /// - Parameter longest: The longest time, while the end of the server is told.
    /// - Throws: `CancellationError`.
    func rest(atMost longest: Duration = .seconds(5)) async throws {
        let length = server?.isWatched == true ? longest : .milliseconds(200)
        // Unstructured on purpose: the end of the server ends it.
        let nap = Task { _ = try? await Task.sleep(for: length) }
        self.nap = nap
        await withTaskCancellationHandler {
            await nap.value
        } onCancel: {
            nap.cancel()
        }
        try Task.checkCancellation()
    }

    private func wake() { nap?.cancel() }

    private func createDatabase() async throws {
        var configuration = try PostgresConfiguration(
            url: Self.connectionString(to: "postgres", in: directory)
        )
        configuration.poolSize = 1
        configuration.acquireTimeout = .seconds(10)
        try await PostgresPool.withPool(configuration: configuration, logger: logger) { pool in
            let name = "carillon"
            if try await pool.execute("SELECT FROM pg_database WHERE datname = \(name)") > 0 { return }
            do {
                try await pool.execute(.unprepared("CREATE DATABASE \(identifier: name)"))
            } catch let error as PostgresError
                where error.sqlState == .duplicateDatabase || error.sqlState == .uniqueViolation
            {
                // Another process on the same directory was faster.
            }
        }
    }

    /// Asks the server to stop, then tells it to, then ends it. None of the three loses what was committed.
    private func stop(_ server: ServerProcess) async {
        let steps = [
            (signal: SIGINT, limit: configuration.stopTimeout), (SIGQUIT, .seconds(5)), (SIGKILL, .seconds(5)),
        ]
        for step in steps {
            server.send(step.signal)
            if await server.waitForExit(atMost: step.limit) { return }
            logger.warning("PostgreSQL does not stop", metadata: metadata)
        }
    }
}

extension PostgresError {
    /// Whether a server says that it is on its way, and that there is something to recover first. Whoever cannot connect has its words,
    /// and no code.
    var isOfRecovery: Bool {
        [
            "the database system is starting up", "the database system is in recovery mode",
            "the database system is not yet accepting connections",
        ].contains { description.contains($0) }
    }
}
