import CarillonCore
import CarillonStore
import Logging
import Postgres

/// Looks at what stands between here and a server that somebody else runs: whether it passes on what sessions need.
struct PoolerChecks: Sendable {
    let settings: Settings

    /// What is found; nothing where the server is ours. The pool leads to the same database.
    func findings(_ pool: PostgresPool, of placement: PlacementName) async throws -> [Finding] {
        guard let configuration = settings.serverToLook(at: placement) else { return [] }
        let (mode, session) = try await PostgresPool.withPool(configuration: configuration, logger: .silent) { pool in
            (try await pool.poolMode(), try await pool.readSessionSettings())
        }
        return Self.findings(mode, preparesStatements: settings.preparesStatements)
            + [Self.finding(session)]
            // Announcements go by way of home alone.
            + (placement == .home ? await announcements(pool, sharesSessions: mode.sharesSessions) : [])
    }

    /// What is to be said of the pooler itself, and of statements.
    static func findings(_ mode: PoolMode, preparesStatements: Bool) -> [Finding] {
        guard case .transaction(let keepsStatements) = mode else {
            let none = "none: connections lead to PostgreSQL itself"
            return [.ok("pooler", mode == .none ? none : "there is one, which gives each connection its session")]
        }
        let statements: Finding =
            switch (preparesStatements, keepsStatements) {
            case (true, false?): .fail("statements", PoolerAdvice.lostStatements)
            case (true, true?): .ok("statements", "are prepared once, and the pooler finds them again")
            case (true, nil): .warn("statements", PoolerAdvice.unseenStatements)
            case (false, true?):
                .ok("statements", "are sent whole each time; would work without CARILLON_PREPARED_STATEMENTS=off, too")
            case (false, _): .ok("statements", "are sent whole each time (CARILLON_PREPARED_STATEMENTS=off)")
            }
        return [.ok("pooler", "there is one, which hands sessions out by transaction"), statements]
    }

    /// What is to be said of the settings of sessions.
    static func finding(_ session: SessionSettings) -> Finding {
        guard session.lacking.isEmpty else { return .fail("settings", PoolerAdvice.lackingSettings(session)) }
        let inForce = session.settings.map { "\($0.name) \($0.found ?? "")" }
        return .ok("settings", "in force: \(inForce.joined(separator: ", "))")
    }

    private func announcements(_ pool: PostgresPool, sharesSessions: Bool) async -> [Finding] {
        let subject = "announcements"
        guard var way = settings.announcements else {
            return sharesSessions ? [.warn(subject, PoolerAdvice.lostAnnouncements)] : []
        }
        way.poolSize = 1
        do {
            let place = try await Self.place(pool)
            let (other, mode) = try await PostgresPool.withPool(configuration: way, logger: .silent) { pool in
                (try await Self.place(pool), try await pool.poolMode())
            }
            guard place == other else {
                return [.fail(subject, "CARILLON_ANNOUNCEMENTS_URL leads to another database, or another server")]
            }
            guard mode.sharesSessions else { return [.ok(subject, "have sessions of their own")] }
            return [.warn(subject, PoolerAdvice.pooledAnnouncements)]
        } catch {
            return [.fail(subject, "where CARILLON_ANNOUNCEMENTS_URL leads: \(error)")]
        }
    }

    /// What tells one database from all others, whatever way leads there.
    private static func place(_ pool: PostgresPool) async throws -> String? {
        try await pool.first(
            .unprepared(
                """
                SELECT concat_ws(' ', pg_postmaster_start_time(), oid) FROM pg_database
                WHERE datname = current_database()
                """
            )
        )
    }
}

extension Settings {
    /// The server of a placement as a service uses it, by one connection and without prepared statements; `nil` for one of our own.
    func serverToLook(at placement: PlacementName) -> PostgresConfiguration? {
        guard case .server(var configuration) = database(of: placement) else { return nil }
        configuration.poolSize = 1
        configuration.preparesStatements = false
        configuration.planForStores()
        return configuration
    }
}
