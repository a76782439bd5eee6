import CarillonCore
import CarillonStore
import Logging
import Postgres
import ServiceLifecycle

/// Brings the schema up to date where that is ours to do, and says whether it is.
///
/// A database that is away is waited for; one that cannot be migrated ends the service when it is ours, and makes it
/// not ready when it is somebody else's.
struct SchemaReadiness: Service {
    private static let interval = Duration.milliseconds(200)
    private static let remedyInterval = Duration.seconds(2)
    /// How long a database may be away before it is worth a line.
    private static let patience = Duration.seconds(5)

    private struct Problem: Equatable {
        let words: String
        /// Whether it says what an operator can do about it.
        var hasRemedy = false
    }

    let configuration: PostgresConfiguration
    let migrations: String
    /// Whether to run what is missing, or only to look.
    let migrates: Bool
    let clock: DatabaseClock
    let state: DatabaseState
    /// Looks whether the database is the right one, when its tables are there; ends the start where it is not.
    let examine: @Sendable (PostgresPool) async throws -> Void
    let logger: Logger

    func run() async throws {
        let start = ContinuousClock.now
        try await repeating(with: Problem?.none) { reported in
            let problem = try await check()
            state.note { $0.schemaProblem = problem?.words }
            guard let problem else { return nil }
            // What an operator has to do something about does not pass by itself.
            if problem != reported, problem.hasRemedy || ContinuousClock.now - start > Self.patience {
                logger.warning("Waiting for the database", metadata: ["reason": "\(problem.words)"])
                reported = problem
            }
            return problem.hasRemedy ? Self.remedyInterval : Self.interval
        }
        try? await gracefulShutdown()
    }

    /// By way of the server that makes tables, where the pool leads to another.
    private func makePartitions(_ pool: PostgresPool) async throws {
        guard var way = configuration.atCoordinator else {
            return try await Housekeeper(pool: pool, clock: clock.wallClock, logger: logger).makePartitions()
        }
        way.poolSize = 1
        way.preparesStatements = false
        try await PostgresPool.withPool(configuration: way, logger: .silent) { tables in
            try await Housekeeper(pool: pool, tables: tables, clock: clock.wallClock, logger: logger).makePartitions()
        }
    }

    private func check() async throws -> Problem? {
        do {
            var configuration = configuration
            configuration.poolSize = 1
            // A look needs no statement twice, and a pooler may lose what is prepared.
            configuration.preparesStatements = false
            // That there is no server yet is nothing to warn of.
            return try await PostgresPool.withPool(configuration: configuration, logger: .silent) { pool in
                try await clock.look(pool)
                let migrator = Migrator(pool: pool, directory: migrations, logger: logger)
                if migrates {
                    let missing = try await migrator.status().pending
                    let names = missing.joined(separator: ", ")
                    if !missing.isEmpty { state.note { $0.schemaProblem = "migrations are running (\(names))" } }
                    try await migrator.migrate()
                }
                let pending = try await migrator.status().pending
                if !migrates,
                    let advice = try await PoolerAdvice.onStart(
                        pool,
                        preparesStatements: self.configuration.preparesStatements
                    )
                {
                    return Problem(words: advice, hasRemedy: true)
                }
                guard pending.isEmpty else {
                    let names = pending.joined(separator: ", ")
                    return Problem(words: "migrations pending: run carillon migrate (\(names))")
                }
                if let behind = try await SequencesBehind.look(pool) {
                    return Problem(words: "\(behind)", hasRemedy: true)
                }
                try await examine(pool)
                // Today's partitions should be there before the first row for them is; what takes long is done later.
                try await makePartitions(pool)
                return nil
            }
        } catch let error as StartError {
            throw error
        } catch let error as PostgresError where error.isConnectivity {
            // Who makes the cluster makes its database, too: there is nothing to do about it but to wait.
            if !migrates, let advice = DatabaseAdvice(error, at: configuration) {
                return Problem(words: "\(advice)", hasRemedy: true)
            }
            return Problem(
                words: migrates && error.kind != .server(.readOnlySQLTransaction)
                    ? "the embedded PostgreSQL is not up yet" : "\(error)"
            )
        } catch {
            if Task.isCancelled { return Problem(words: "the service is shutting down") }
            if migrates { throw error }
            let advice = DatabaseAdvice(error, at: configuration)
            return Problem(
                words: advice.map { "\($0)" } ?? "\(error)",
                hasRemedy: advice != nil || error is ServerTooOld || error is WrongEncoding
                    || error is MistakenPlacement
            )
        }
    }
}
