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

    /// What is found in all placements; `ofNetworks` says whether all networks are looked at, too.
    func findings(ofNetworks: Bool) async -> [Finding] {
        guard !settings.placements.isEmpty else { return await findings(in: .home, ofNetworks: ofNetworks) }
        var findings: [Finding] = []
        for name in settings.placementNames {
            findings += await self.findings(in: name, ofNetworks: ofNetworks).map { finding in
                Finding(verdict: finding.verdict, subject: "\(name): \(finding.subject)", detail: finding.detail)
            }
        }
        return findings + [await together()]
    }

    private func findings(in placement: PlacementName, ofNetworks: Bool) async -> [Finding] {
        do {
            if case .embedded = settings.database, !settings.hasCluster { return try await trial() }
            // A look needs no statement twice, and a pooler may lose what is prepared.
            return try await Database.withPool(
                settings,
                of: placement,
                logger: .silent,
                adjusting: { $0.preparesStatements = false }
            ) { pool in
                let (migrations, isComplete) = await schema(pool)
                let sessions = try await PoolerChecks(settings: settings).findings(pool, of: placement)
                let findings = try await server(pool) + sessions + [try await clock(pool), migrations]
                return try await findings + (isComplete ? tables(pool, of: placement, ofNetworks: ofNetworks) : [])
            }
        } catch {
            return [.fail("PostgreSQL", "\(error)")]
        }
    }

    /// What is found in a database with all of its tables.
    private func tables(
        _ pool: PostgresPool,
        of placement: PlacementName,
        ofNetworks: Bool
    ) async throws -> [Finding] {
        let box = try settings.existingSecretBox()
        var findings = try await CitusChecks(settings: settings).findings(pool, of: placement) + [queue(pool)]
        findings += try await SequencesBehind.look(pool).map { [.fail("sequences", "\($0)")] } ?? []
        findings += try await DisclosureChecks.findings(pool)
        findings += try await MasterKeyChecks(settings: settings).findings(pool, box)
        findings += try await EndpointChecks.findings(pool, box)
        if let box {
            let accounts = PostgresAccountStore(pool: pool, box: box, ids: UUIDv7Generator())
            findings += try await FaceChecks.findings(accounts, PostgresFaceList(pool: pool, box: box))
            findings += try await IntrospectionChecks(settings).findings(accounts)
        }
        return try await findings + (ofNetworks ? OverviewChecks.findings(pool) : [])
    }

    /// Nothing is there yet, and nothing shall be made by looking: a cluster somewhere else shows whether it would work.
    private func trial() async throws -> [Finding] {
        let scratch = try ScratchDirectory()
        defer { scratch.remove() }
        let cluster = EmbeddedCluster(
            configuration: .init(dataDirectory: scratch.path, throwAwayDirectory: scratch.path),
            logger: .silent
        )
        _ = try await cluster.start()
        await cluster.stop()
        return [.ok("PostgreSQL", "is installed; the first start makes a cluster in \(settings.dataDirectory)")]
    }

    private func server(_ pool: PostgresPool) async throws -> [Finding] {
        let names = [
            "server_version_num", "fsync", "synchronous_commit", "full_page_writes", "max_connections",
            "neon.timeline_id",
        ]
        let values = try await pool.query("SELECT name, setting FROM pg_settings WHERE name = ANY(\(names))") { row in
            (try row.decode(0, as: String.self), try row.decode(1, as: String.self))
        }
        let server = Dictionary(values) { first, _ in first }
        let number = server["server_version_num"].flatMap { Int($0) } ?? 0
        let versionFinding: Finding =
            ServerTooOld(versionNumber: number).map { Finding.fail("PostgreSQL", "\($0)") }
            ?? .ok("PostgreSQL", "version \(number / 10_000) answers")
        // Neon's servers have their log kept by others, and nothing of their own to synchronise.
        let isKept = server["fsync"] == "on" || server["neon.timeline_id"] != nil
        let isDurable = isKept && !["off", "local"].contains(server["synchronous_commit"])
        let durability: Finding =
            isDurable
            ? .ok("durability", "what is committed is kept")
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

    /// Whether migrations are missing, and whether none is.
    private func schema(_ pool: PostgresPool) async -> (Finding, isComplete: Bool) {
        do {
            let migrator = Migrator(pool: pool, directory: settings.migrations.path, logger: .silent)
            let pending = try await migrator.status().pending
            if pending.isEmpty { return (.ok("migrations", "none is missing"), true) }
            let names = pending.joined(separator: ", ")
            if case .embedded = settings.database { return (.ok("migrations", "the next start runs \(names)"), false) }
            return (.fail("migrations", "\(names) not applied: run carillon migrate"), false)
        } catch {
            return (.fail("migrations", "\(error)"), false)
        }
    }

    /// Whether each placement is one of its own, and whether all are configured that have networks.
    private func together() async -> Finding {
        let subject = "placements"
        do {
            let identities = PlacementIdentities(settings.placementNames)
            for name in settings.placementNames {
                _ = try await Database.withPool(settings, of: name, logger: .silent) { pool in
                    try await identities.check(name, pool)
                }
            }
            let records = try await Database.withPool(settings, logger: .silent) { pool in
                try await PostgresPlacementCatalog(pool: pool).records()
            }
            let foreign = records.filter { $0.networks > 0 && !settings.placementNames.contains($0.name) }
            guard foreign.isEmpty else {
                let list = foreign.map { "\($0.networks) in \($0.name)" }.joined(separator: ", ")
                return .fail(subject, "networks are in placements whose URLs are not configured here: \(list)")
            }
            let list = records.map { "\($0.name) (\($0.state.rawValue), \($0.networks))" }.joined(separator: ", ")
            return .ok(subject, records.isEmpty ? "the next start begins their list" : list)
        } catch {
            return .fail(subject, "\(error)")
        }
    }
}
