import CarillonCore
import CarillonStore
import EmbeddedPostgres
import Foundation
import Logging
import Postgres

/// Looks at PostgreSQL: whether it is there, whether it keeps what it promises, and whether it has our tables.
struct DatabaseChecks: Sendable {
    private static let patience = Duration.seconds(60)

    let settings: Settings
    private let logger = Logger(label: "carillon.doctor") { _ in SwiftLogNoOpLogHandler() }

    /// What is found in all placements; `ofNetworks` says whether all networks are looked at, too.
    func findings(ofNetworks: Bool) async -> [Finding] {
        guard !settings.placements.isEmpty else { return await findings(in: .home, ofNetworks: ofNetworks) }
        var findings: [Finding] = []
        for name in settings.placementNames {
            findings += await self.findings(in: name, ofNetworks: ofNetworks).map { finding in
                Finding(verdict: finding.verdict, subject: "\(name): \(finding.subject)", detail: finding.detail)
            }
        }
        return findings + [await PlacementChecks(settings: settings).finding()]
    }

    private func findings(in placement: PlacementName, ofNetworks: Bool) async -> [Finding] {
        do {
            if case .embedded = settings.database, !hasCluster { return try await trial() }
            // A look needs no statement twice, and a pooler may lose what is prepared.
            return try await Database.withPool(settings, of: placement, logger: logger, adjusting: Self.adjust) {
                pool in
                let migrations = await schema(pool)
                let sessions = try await PoolerChecks(settings: settings).findings(pool, of: placement)
                var findings = try await server(pool) + sessions + [try await clock(pool), migrations]
                guard migrations.verdict == .ok, try await hasAllTables(pool) else { return findings }
                findings += try await CitusChecks(settings: settings).findings(pool, of: placement)
                return try await findings + [queue(pool)] + MasterKeyChecks(settings: settings).findings(pool)
                    + EndpointChecks(settings: settings).findings(pool) + FaceChecks(settings: settings).findings(pool)
                    + IntrospectionChecks(settings).findings(pool, settings)
                    + (ofNetworks ? OverviewChecks.findings(pool) : [])
            }
        } catch {
            return [.fail("PostgreSQL", "\(error)")]
        }
    }

    /// A look needs no statement twice, and a pooler may lose what is prepared.
    private static func adjust(_ configuration: inout PostgresConfiguration) {
        configuration.preparesStatements = false
    }

    private var hasCluster: Bool {
        FileManager.default.fileExists(atPath: "\(settings.dataDirectory)/cluster/PG_VERSION")
    }

    /// Nothing is there yet, and nothing shall be made by looking: a cluster somewhere else shows whether it would work.
    private func trial() async throws -> [Finding] {
        let scratch = try ScratchDirectory()
        defer { scratch.remove() }
        let cluster = EmbeddedCluster(
            configuration: .init(dataDirectory: scratch.path, throwAwayDirectory: scratch.path),
            logger: logger
        )
        _ = try await cluster.start()
        await cluster.stop()
        return [.ok("PostgreSQL", "is installed; the first start makes a cluster in \(settings.dataDirectory)")]
    }

    private func server(_ pool: PostgresPool) async throws -> [Finding] {
        let names = ["server_version_num", "fsync", "synchronous_commit", "full_page_writes", "max_connections"]
        let values = try await pool.withConnection { session in
            try session.query("SELECT name, setting FROM pg_settings WHERE name = ANY(\(names))") { row in
                (name: try row.decode(0, as: String.self), value: try row.decode(1, as: String.self))
            }
        }
        let server = Dictionary(values.map { ($0.name, $0.value) }) { first, _ in first }
        let number = server["server_version_num"].flatMap { Int($0) } ?? 0
        let versionFinding: Finding =
            ServerTooOld(versionNumber: number).map { Finding.fail("PostgreSQL", "\($0)") }
            ?? .ok("PostgreSQL", "version \(number / 10_000) answers")
        let isDurable = server["fsync"] == "on" && !["off", "local"].contains(server["synchronous_commit"])
        let durability: Finding =
            isDurable
            ? .ok("durability", "fsync and synchronous_commit are on")
            : .fail("durability", "an accepted event could be lost: set fsync = on and synchronous_commit = on")
        let connections = server["max_connections"].flatMap { Int($0) } ?? 0
        let limit: Finding =
            connections < 20
            ? .warn("max_connections", "\(connections): each Carillon uses 7, so few fit; 100 is the usual value")
            : .ok("max_connections", "\(connections)")
        let pages: [Finding] =
            server["full_page_writes"] == "off"
            ? [.warn("full_page_writes", "is off: a crash can damage the data unless the file system prevents it")] : []
        return [versionFinding, durability, limit] + pages
    }

    private func clock(_ pool: PostgresPool) async throws -> Finding {
        let skew = try await DatabaseClock().look(pool)
        guard skew.isTooLarge else { return .ok("clock", "agrees with PostgreSQL's") }
        return .fail("clock", "\(skew.description), so the service is not ready: let both follow the same time server")
    }

    /// Whether something has been due for longer than it takes any service to work on it.
    private func queue(_ pool: PostgresPool) async throws -> Finding {
        let waited = try await PostgresOutbox(pool: pool, ids: UUIDv7Generator()).oldestWait()
        guard waited > Self.patience else { return .ok("queue", "nothing has been due for a minute") }
        return .warn(
            "queue",
            "work has been due for \(waited.components.seconds) s: where a service runs, its log says what fails"
        )
    }

    private func hasAllTables(_ pool: PostgresPool) async throws -> Bool {
        try await Migrator(pool: pool, directory: settings.migrations.path, logger: logger).status().pending.isEmpty
    }

    private func schema(_ pool: PostgresPool) async -> Finding {
        do {
            let migrator = Migrator(pool: pool, directory: settings.migrations.path, logger: logger)
            let pending = try await migrator.status().pending
            if pending.isEmpty { return .ok("migrations", "none is missing") }
            let names = pending.joined(separator: ", ")
            if case .embedded = settings.database { return .ok("migrations", "the next start runs \(names)") }
            return .fail("migrations", "\(names) not applied: run carillon migrate")
        } catch {
            return .fail("migrations", "\(error)")
        }
    }
}
