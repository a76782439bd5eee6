package import Logging
import Postgres

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
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
        let deadline = ContinuousClock.now + configuration.startTimeout
        while true {
            try await ensureServer(as: account, deadline: deadline)
            do {
                try await createDatabase()
                return connectionString
            } catch let error as PostgresError where error.isConnectivity && ContinuousClock.now < deadline {
                // Another owner has stopped the server at this very moment, or it has crashed: once more.
                logger.debug("Cannot use PostgreSQL yet", metadata: ["error": "\(error)"])
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
    private func ensureServer(as account: ServerAccount, deadline: ContinuousClock.Instant) async throws {
        if try await !becomesOwner(before: deadline) {
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
            try await adopt(file.processID, deadline: deadline)
        } else {
            try await launch(as: account, deadline: deadline)
        }
    }

    /// Makes a running server one's own.
    private func adopt(_ processID: Int32, deadline: ContinuousClock.Instant) async throws {
        if let server, server.processID == processID { return }
        logger.info("Taking over a running PostgreSQL server", metadata: metadata)
        let server = ServerProcess(adopting: processID)
        self.server = server
        try await waitUntilReady(server, deadline: deadline)
    }

    private func launch(
        as account: ServerAccount,
        deadline: ContinuousClock.Instant
    ) async throws {
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
        while try !directory.removeMisleadingPostmasterFile() { try await pause(before: deadline) }
        try directory.log.trim()
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
            try await waitUntilReady(server, deadline: deadline)
        } catch {
            await stop(server)
            self.server = nil
            throw error
        }
    }

    /// Waits until either this process owns the server or the owner has it running, and tells which.
    private func becomesOwner(before deadline: ContinuousClock.Instant) async throws -> Bool {
        while true {
            if lock == nil { lock = try OwnershipLock(path: directory.lock) }
            if lock != nil { return true }
            if let file = directory.postmasterFile, file.isReady, file.isAlive { return false }
            try await pause(before: deadline)
        }
    }

    /// Waits until the server says in its file that it accepts connections.
    private func waitUntilReady(_ server: ServerProcess, deadline: ContinuousClock.Instant) async throws {
        while true {
            if let file = directory.postmasterFile, file.isReady, file.processID == server.processID { return }
            guard server.isAlive else { throw EmbeddedClusterError.startFailed(log: directory.log.tail()) }
            try await pause(before: deadline)
        }
    }

    private func pause(before deadline: ContinuousClock.Instant) async throws {
        guard ContinuousClock.now < deadline else {
            throw EmbeddedClusterError.startTimedOut(log: directory.log.tail())
        }
        try await Task.sleep(for: .milliseconds(5))
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
            try await pool.withConnection { session in
                let name = "carillon"
                let exists = try session.queryFirst("SELECT 1 FROM pg_database WHERE datname = \(name)") { _ in true }
                if exists == true { return }
                do {
                    try session.execute(.unprepared("CREATE DATABASE \(identifier: name)"))
                } catch let error as PostgresError
                    where error.sqlState == .duplicateDatabase || error.sqlState == .uniqueViolation
                {
                    // Another process on the same directory was faster.
                }
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
