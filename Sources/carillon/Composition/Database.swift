import CarillonCore
import CarillonStore
import EmbeddedPostgres
import Foundation
import Logging
import Postgres

/// The database for a command that is no service.
enum Database {
    /// Lends a pool to `body`; an embedded server is started for that long unless one runs.
    ///
    /// `isPastPooler` says whether sessions are needed that are nobody else's, and `makesTables` whether the server that can
    /// do that, where another way leads to such; only then an embedded server is made where there is none.
    /// - Throws: What `body` throws, and why there is no database.
    static func withPool<Value>(
        _ settings: Settings,
        of placement: PlacementName = .home,
        logger: Logger,
        pastPooler isPastPooler: Bool = false,
        makingTables makesTables: Bool = false,
        adjusting adjust: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (PostgresPool) async throws -> Value
    ) async throws -> Value {
        switch settings.database(of: placement) {
        case .server(let server):
            // There is another way to home alone.
            let direct = placement == .home ? settings.announcements : nil
            var configuration = isPastPooler ? direct ?? server : server
            if makesTables, let coordinator = server.atCoordinator { configuration = coordinator }
            configuration.handOnLimits()
            configuration.preparesStatements = settings.preparesStatements
            adjust(&configuration)
            do {
                return try await PostgresPool.withPool(configuration: configuration, logger: logger, body)
            } catch {
                guard let advice = DatabaseAdvice(error, at: configuration) else { throw error }
                throw StartError("\(advice)")
            }
        case .embedded:
            guard makesTables || settings.hasCluster else {
                throw StartError(
                    "there is no database in \(settings.dataDirectory): set CARILLON_DATA_DIR or CARILLON_DATABASE_URL"
                )
            }
            try settings.makeDataDirectory()
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

    /// The placement that a network is in, by home's list; home where there is no other.
    static func placement(of network: NetworkID, _ settings: Settings, logger: Logger) async throws -> PlacementName {
        guard !settings.placements.isEmpty else { return .home }
        return try await withPool(settings, logger: logger) { pool in
            try await PostgresPlacementCatalog(pool: pool).list(unless: nil)?.placements[network] ?? .home
        }
    }
}

extension Settings {
    /// Whether there is an embedded server's data.
    var hasCluster: Bool { FileManager.default.fileExists(atPath: "\(dataDirectory)/cluster/PG_VERSION") }

    /// The placements, home first.
    var placementNames: [PlacementName] { [.home] + placements.map(\.name) }

    /// Where a placement is; home's where it has another name.
    func database(of placement: PlacementName) -> Database {
        placements.first { $0.name == placement }.map { .server($0.configuration) } ?? database
    }

    /// The placements that a command is for: all, or the one that is meant.
    /// - Throws: ``StartError`` for one that is not configured.
    func placements(named name: String?) throws -> [PlacementName] {
        guard let name else { return placementNames }
        guard let found = placementNames.first(where: { $0.rawValue == name }) else {
            throw StartError("there is no placement \(name): \(Setting.placements.variable) names them")
        }
        return [found]
    }
}
