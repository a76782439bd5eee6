import EmbeddedPostgres
import Logging
import Postgres

/// The database for a command that is no service.
enum Database {
    /// Lends a pool to `body`; an embedded server is started for that long unless one runs.
    ///
    /// - Parameters:
    ///   - settings: Where the database is.
    ///   - logger: Told what becomes of the server.
    ///   - adjust: Changes how the database is used.
    ///   - body: The work.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, and why there is no database.
    static func withPool<Value>(
        _ settings: Settings,
        logger: Logger,
        adjusting adjust: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (PostgresPool) async throws -> Value
    ) async throws -> Value {
        switch settings.database {
        case .server(var configuration):
            adjust(&configuration)
            do {
                return try await PostgresPool.withPool(configuration: configuration, logger: logger, body)
            } catch {
                guard let advice = DatabaseAdvice(error, at: configuration) else { throw error }
                throw StartError("\(advice)")
            }
        case .embedded:
            try DataDirectory(path: settings.dataDirectory).prepare()
            let cluster = EmbeddedCluster(
                configuration: .init(dataDirectory: settings.dataDirectory),
                logger: logger
            )
            do {
                var configuration = try PostgresConfiguration(url: try await cluster.start())
                adjust(&configuration)
                let value = try await PostgresPool.withPool(configuration: configuration, logger: logger, body)
                await cluster.stop()
                return value
            } catch {
                await cluster.stop()
                throw error
            }
        }
    }
}
